// Cases on the kernels' variants, judged by the oracle: those of files, and random ones of the shapes of serving.
#ifndef TESTS_GPU_CASE_CHECKS_H
#define TESTS_GPU_CASE_CHECKS_H

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "properties/case/implementation.h"
#include "tests/gpu/check_log.h"

namespace kvwitness::gpu_check {

using Variants = std::span<const std::unique_ptr<harness::Implementation>>;

// Every case of the files on each variant; a file that cannot be read is a failed check.
void check_case_files(Variants variants, const std::vector<std::string>& paths, CheckLog& log);

// `count` random cases on each variant: widths that are no multiple of 4, rows that are misaligned and strided, short
// and long contexts, padding, tokens past the end, more than 64 segments. The same cases each time.
void check_random_cases(Variants variants, int count, CheckLog& log);

}  // namespace kvwitness::gpu_check

#endif  // TESTS_GPU_CASE_CHECKS_H
