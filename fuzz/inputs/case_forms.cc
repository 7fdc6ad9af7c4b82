#include "fuzz/inputs/case_forms.h"

#include <utility>

namespace kvwitness::fuzz {
namespace {

using harness::Case;

std::vector<Bytes> bytes_of(const Case& value) {
  return {encode(value)};
}

Bytes with_case(std::span<const std::uint8_t>, const Case& value) {
  return encode(value);
}

Bytes as_bytes(const std::string& text) {
  return {text.begin(), text.end()};
}

std::vector<Bytes> text_of(const Case& value) {
  return {as_bytes(to_json(value) + "\n")};
}

// A case whose note needs every kind of escape.
Case with_escapes(Case value) {
  value.note = "tab\t, quote\", backslash\\, newline\n, \xC3\xA9, \xF0\x9F\x98\x80";
  return value;
}

// Short cases as bytes too, and every so many-th one with escapes.
std::vector<Seed> text_seeds(std::span<const NamedCase> cases) {
  constexpr std::size_t kMostCaseBytes = 256;
  std::vector<Seed> seeds;
  for (const NamedCase& named : cases) {
    seeds.push_back({named.name, text_of(named.value).front()});
    if (Bytes bytes = encode(named.value); bytes.size() <= kMostCaseBytes) {
      seeds.push_back({named.name + "-bytes", std::move(bytes)});
    }
    if (seeds.size() % 16 == 0) {
      seeds.push_back({named.name + "-escapes", as_bytes(to_json(with_escapes(named.value)))});
    }
  }
  return seeds;
}

}  // namespace

extern const InputForm kCaseForm = {
    .name = "a case",
    .most_seed_bytes = 3072,
    .most_input_bytes = 4096,
    .inputs_of = bytes_of,
    .seeds_of = [](std::span<const NamedCase> cases) { return seeds_of_inputs(bytes_of, cases); },
    .case_of = harness::decode,
    .with_case = with_case,
};

extern const InputForm kCaseTextForm = {
    .name = "text",
    .most_seed_bytes = 4096,
    .most_input_bytes = 4096,
    .is_text = true,
    .inputs_of = text_of,
    .seeds_of = text_seeds,
};

}  // namespace kvwitness::fuzz
