// under_test.h with a fault planted in it.
#include "fuzz/under_test.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>

#include "fuzz/planted_faults/c_functions.h"
#include "fuzz/planted_faults/catalogue.h"
#include "fuzz/planted_faults/host_implementation.h"
#include "fuzz/planted_faults/kernel.h"

namespace kvwitness::fuzz {
namespace {

using harness::Case;

bool is(PlantedFault fault) {
  return planted_fault() == fault;
}

std::string write(const Case& value) {
  Case written = value;
  if (is(PlantedFault::writer_drops_in_place)) {
    written.in_place = false;
  }
  if (is(PlantedFault::writer_drops_an_offset) && written.base_offset == 15) {
    written.base_offset = 0;
  }
  if (is(PlantedFault::writer_drops_escapes)) {
    std::erase(written.note, '\\');
  }
  if (is(PlantedFault::refusal_not_written) && written.expect &&
      std::holds_alternative<std::int32_t>(*written.expect)) {
    written.expect.reset();
  }
  if (is(PlantedFault::attention_in_float) && written.attention) {
    for (std::vector<double>& row : *written.attention) {
      for (double& weight : row) {
        weight = static_cast<double>(static_cast<float>(weight));
      }
    }
  }
  std::string text = harness::to_json(written);
  if (is(PlantedFault::two_lines) && written.note.find('\t') != std::string::npos) {
    text.insert(1, "\n");
  }
  return text;
}

std::expected<std::vector<Case>, harness::CaseError> parse(std::string_view text, std::string_view file) {
  auto cases = harness::parse_cases(text, file);
  if (cases && is(PlantedFault::reader_misses_the_least_token) && file == "written") {
    for (Case& value : *cases) {
      std::ranges::replace(value.learned, INT32_MIN, INT32_MIN + 1);
    }
  }
  return cases;
}

std::vector<std::uint8_t> encode(const Case& value) {
  Case kept = value;
  if (is(PlantedFault::stride_of_32_bits) && kept.row_stride) {
    kept.row_stride = *kept.row_stride & 0xFFFFFFFF;
  }
  if (is(PlantedFault::last_call_before_dropped) && kept.prior_calls.size() > 1) {
    kept.prior_calls.pop_back();
  }
  if (is(PlantedFault::budgets_swapped) && kept.learned_keep > 255) {
    std::swap(kept.learned_keep, kept.max_replacements);
  }
  return harness::encode(kept);
}

}  // namespace

std::vector<std::unique_ptr<harness::Implementation>> host_implementations() {
  std::vector<std::unique_ptr<harness::Implementation>> made;
  made.push_back(make_planted_host());
  return made;
}

std::unique_ptr<harness::Implementation> c_abi_implementation() {
  return make_planted_host();
}

simt::Report launch(const harness::CudaPlan& plan, const harness::EmulatedRun& run) {
  return launch_planted(plan, run);
}

AnyFunction function_under_test(AnyFunction function) {
  return planted_function(function);
}

const CaseForms& case_forms() {
  static constexpr CaseForms kForms = {parse, write, encode, harness::decode};
  return kForms;
}

}  // namespace kvwitness::fuzz
