// Runs of `verify` that a signal ends.
#ifndef TESTS_CLI_INTERRUPTS_H
#define TESTS_CLI_INTERRUPTS_H

#include <cstdint>
#include <string>
#include <vector>

#include "tests/cli/program.h"

namespace kvwitness::harness {

// What is judged.
struct Subject {
  const char* name;
  std::vector<std::string> selection;
  const char* way_of_plugin;
};

// `verify` of it with reports, of which there are old ones that say pass, and kept failures in the folder.
Invocation verify_with_reports(const Subject& subject, const ScratchFolder& folder);

// Interrupts so many runs, of several subjects, at moments from their first milliseconds to some seconds, and expects all
// that holds whenever that is.
void interrupt_often(int times, std::uint64_t seed);

}  // namespace kvwitness::harness

#endif  // TESTS_CLI_INTERRUPTS_H
