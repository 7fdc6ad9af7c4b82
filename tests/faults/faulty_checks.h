// What makes a call one that must be refused, for the faults that promise the refusals.
#ifndef TESTS_FAULTS_FAULTY_CHECKS_H
#define TESTS_FAULTS_FAULTY_CHECKS_H

#include <cstdint>
#include <string_view>

namespace kvwitness::faults {

enum class Kind : std::uint8_t { kWitnesses, kApply, kScatter };

struct Arguments {
  Kind kind;
  const std::int32_t* learned;
  std::int64_t learned_len;  // rows * topk for scatter, whose strided form has none
  std::int64_t row_stride;   // topk for packed rows
  std::int64_t topk;
  const std::int32_t* context_lens;
  std::int64_t rows;
  std::int64_t keep;
  std::int64_t num_segments;
  std::int64_t max_replacements;
  std::int32_t* out;
};

// A kvw_status: 0 for a call that is made.
std::int32_t check(const Arguments& call);

}  // namespace kvwitness::faults

#endif  // TESTS_FAULTS_FAULTY_CHECKS_H
