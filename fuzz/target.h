// A fuzz target: its descriptor, and the list of all targets.
//
// A target is one file of targets/, named after it, that holds its body and its descriptor; nothing else lists it.
// CMake reads the files of the folder (fuzz/targets.cmake), so do the driver and the fuzzing services' build script.
#ifndef FUZZ_TARGET_H
#define FUZZ_TARGET_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "fuzz/inputs/input_form.h"
#include "fuzz/mutators/mutator.h"

namespace kvwitness::fuzz {

// In a target's file, in namespace targets: `extern const Target NAME = {.name = "NAME", ...};`, one field a line, in
// this order: CMake and the driver read test_runs, has_threads, control_runs, finds, is_control and mutator there.
struct Target {
  std::string_view name;    // of the program, the test, the folder of seeds
  std::string_view judges;  // what it judges, in one sentence

  // Takes any bytes and returns 0, or -1 for an input that is not worth keeping. Ends the process by report_finding()
  // (finding.h) where something is wrong. Assumes nothing of the working directory or of a device, and writes no file.
  int (*body)(const std::uint8_t* data, std::size_t size);

  const InputForm* form;             // how the body reads its input: its seeds, its limit, how it shrinks
  const Mutator* mutator = nullptr;  // null: the engine's own mutations, with the dictionary NAME.dict beside the file

  int test_runs = 0;         // executions in `./run test`
  bool has_threads = false;  // whether it runs under ThreadSanitizer as well

  std::string_view finds = {};  // the planted faults that it must find, separated by blanks
  int control_runs = 100'000;   // executions within which it must find each

  bool is_control = false;  // refutes a false claim: found by its name only, and no campaign runs it
};

// All targets but the controls, by name.
std::span<const Target> all_targets();
// A target or a control; null where there is none.
const Target* find_target(std::string_view name);

}  // namespace kvwitness::fuzz

#endif  // FUZZ_TARGET_H
