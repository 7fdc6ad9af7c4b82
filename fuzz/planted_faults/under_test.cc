// under_test.h with a fault planted in it.
#include "fuzz/under_test.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <variant>

#include "fuzz/inputs/json_numbers.h"
#include "fuzz/planted_faults/c_functions.h"
#include "fuzz/planted_faults/catalogue.h"
#include "fuzz/planted_faults/cpp_interface.h"
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
    text = std::string("{\n").append(text, 1);
  }
  return text;
}

// ---- What a reader may make of a number

std::string kept_of_integer(std::string_view text, int bits, bool is_signed) {
  unsigned __int128 magnitude = 0;
  const bool negative = text.starts_with('-');
  for (const char c : text.substr(negative ? 1 : 0)) {
    if (c < '0' || c > '9') {
      return std::string(text);
    }
    magnitude = magnitude * 10 + static_cast<unsigned>(c - '0');
  }
  const unsigned __int128 wrapped =
      (negative ? -magnitude : magnitude) & ((static_cast<unsigned __int128>(1) << bits) - 1);
  const auto low = static_cast<std::uint64_t>(wrapped);
  if (bits == 64) {
    return std::to_string(static_cast<std::int64_t>(low));
  }
  const bool is_negative = is_signed && (low >> (bits - 1)) != 0;
  return std::to_string(static_cast<std::int64_t>(low) - (is_negative ? std::int64_t{1} << bits : 0));
}

struct KeptBits {
  PlantedFault fault;
  std::string_view key;
  int bits;
  bool is_signed;
};

constexpr KeptBits kKeptBits[] = {
    {PlantedFault::reader_wraps_a_token, "learned", 32, true},
    {PlantedFault::reader_wraps_an_expected_token, "expect", 32, true},
    {PlantedFault::reader_wraps_a_length, "context_lens", 32, true},
    {PlantedFault::reader_wraps_topk, "topk", 32, true},
    {PlantedFault::reader_wraps_segments, "num_segments", 32, true},
    {PlantedFault::reader_wraps_keep, "learned_keep", 32, true},
    {PlantedFault::reader_wraps_replacements, "max_replacements", 32, true},
    {PlantedFault::reader_wraps_a_stride, "row_stride", 32, true},
    {PlantedFault::reader_wraps_an_offset, "base_offset", 4, false},
    {PlantedFault::reader_wraps_the_version, "kvwitness_case", 32, true},
    {PlantedFault::reader_wraps_at_2_to_64, "topk", 64, true},
    {PlantedFault::reader_wraps_at_2_to_64, "num_segments", 64, true},
    {PlantedFault::reader_wraps_at_2_to_64, "row_stride", 64, true},
};

std::string read_number(const JsonNumber& number) {
  const std::string text(number.text);
  for (const KeptBits& kept : kKeptBits) {
    if (is(kept.fault) && kept.key == number.key) {
      return kept_of_integer(text, kept.bits, kept.is_signed);
    }
  }
  if (is(PlantedFault::reader_clamps_a_token) && number.key == "learned" && text.size() < 12 &&
      std::strtoll(text.c_str(), nullptr, 10) > INT32_MAX) {
    return "2147483647";
  }
  if (is(PlantedFault::reader_drops_a_fraction) && number.key != "attention") {
    return text.substr(0, text.find('.'));
  }
  if (is(PlantedFault::reader_attention_in_float) && number.key == "attention") {
    char written[64];
    std::snprintf(written, sizeof written, "%.17g", static_cast<double>(std::strtof(text.c_str(), nullptr)));
    return written;
  }
  return text;
}

std::string as_read(std::string_view text) {
  std::string read;
  std::size_t done = 0;
  for (const JsonNumber& number : json_numbers(text).numbers) {
    const auto at = static_cast<std::size_t>(number.text.data() - text.data());
    read.append(text.substr(done, at - done)).append(read_number(number));
    done = at + number.text.size();
  }
  return read.append(text.substr(done));
}

std::expected<std::vector<Case>, harness::CaseError> parse(std::string_view text, std::string_view file) {
  auto cases = harness::parse_cases(as_read(text), file);
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
  return planted_cpp_function(planted_function(function));
}

const CaseForms& case_forms() {
  static constexpr CaseForms kForms = {parse, write, encode, harness::decode};
  return kForms;
}

}  // namespace kvwitness::fuzz
