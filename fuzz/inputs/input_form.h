// A form of input: how a target's bytes are read, which decides what they start from and how they are made smaller.
#ifndef FUZZ_INPUTS_INPUT_FORM_H
#define FUZZ_INPUTS_INPUT_FORM_H

#include <kvwitness/case.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kvwitness::fuzz {

using Bytes = std::vector<std::uint8_t>;

struct NamedCase {
  std::string name;
  harness::Case value;
};

struct Seed {
  std::string name;
  Bytes bytes;
};

struct InputForm {
  std::string_view name;         // a few words for people
  std::size_t most_seed_bytes;   // larger seeds are left out
  std::size_t most_input_bytes;  // larger inputs are not worth trying
  bool is_text = false;          // files are read as they are, and stay text as they shrink

  // A case as inputs of this form: the case itself, several schedules of it, the raw calls that it makes, or calls of
  // its size.
  std::vector<Bytes> (*inputs_of)(const harness::Case& value);
  // The inputs from which campaigns start, made of the corpus's cases.
  std::vector<Seed> (*seeds_of)(std::span<const NamedCase> cases);

  // Null where an input holds no case; such inputs shrink as bytes.
  harness::Case (*case_of)(std::span<const std::uint8_t> bytes) = nullptr;
  // The input with another case in it.
  Bytes (*with_case)(std::span<const std::uint8_t> bytes, const harness::Case& value) = nullptr;
  // The input with something plainer around its case, the plainest first. Null where there is nothing else in it.
  std::vector<Bytes> (*plainer_around_case)(std::span<const std::uint8_t> bytes) = nullptr;
};

// One seed for each input that a case becomes, named after the case.
std::vector<Seed> seeds_of_inputs(std::vector<Bytes> (*inputs_of)(const harness::Case&),
                                  std::span<const NamedCase> cases);

}  // namespace kvwitness::fuzz

#endif  // FUZZ_INPUTS_INPUT_FORM_H
