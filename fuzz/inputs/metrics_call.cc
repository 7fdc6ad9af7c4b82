#include "fuzz/inputs/metrics_call.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fuzz/inputs/byte_input.h"

namespace kvwitness::fuzz {
namespace {

constexpr auto kFunctionCount = static_cast<std::uint8_t>(MetricsFunction::kCount);

double attention_value(std::uint16_t code) {
  return code == 0xFFFF ? std::numeric_limits<double>::quiet_NaN() : std::ldexp(code & 0xFFF, (code >> 12) * 6 - 60);
}

void append(Bytes& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) {
    out.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
  }
}

// A call with the case's first length and its first tokens.
Bytes input_of(std::uint8_t function, const harness::Case& value, std::uint64_t second) {
  constexpr std::size_t kMostCandidates = 64;
  Bytes out = {function};
  append(out, static_cast<std::uint32_t>(value.context_lens.empty() ? 0 : value.context_lens.front()), 8);
  append(out, second, 8);
  append(out, static_cast<std::uint64_t>(value.topk), 8);
  const std::size_t candidates = std::min(value.learned.size(), kMostCandidates);
  append(out, candidates, 2);
  for (const std::int32_t token : std::span(value.learned).first(candidates)) {
    append(out, static_cast<std::uint32_t>(token), 4);
  }
  for (std::size_t i = 0; i < 2 * candidates; ++i) {
    append(out, 0xA000 + 37 * i, 2);
  }
  return out;
}

std::vector<Bytes> inputs_of(const harness::Case& value) {
  std::vector<Bytes> inputs;
  for (std::uint8_t function = 0; function < kFunctionCount; ++function) {
    inputs.push_back(input_of(function, value, static_cast<std::uint64_t>(value.num_segments)));
  }
  return inputs;
}

// Each function with a count that 32 bits do not hold, and each case as a call of one function, in turn.
std::vector<Seed> seeds_of(std::span<const NamedCase> cases) {
  std::vector<Seed> seeds;
  harness::Case short_context;
  short_context.topk = 4;
  short_context.context_lens = {20};
  short_context.learned = {0, 5, 9, 19};
  for (std::uint8_t function = 0; function < kFunctionCount; ++function) {
    constexpr std::uint64_t kCount = (std::uint64_t{1} << 32) + 3;
    seeds.push_back({"wide-" + std::to_string(function), input_of(function, short_context, kCount << 1 | 1)});
  }
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto function = static_cast<std::uint8_t>(i % kFunctionCount);
    seeds.push_back({cases[i].name + "-" + std::to_string(function),
                     input_of(function, cases[i].value, static_cast<std::uint64_t>(cases[i].value.num_segments))});
  }
  return seeds;
}

}  // namespace

MetricsCall decode_metrics_call(std::span<const std::uint8_t> bytes) {
  ByteInput in(bytes);
  MetricsCall call{.function = static_cast<MetricsFunction>(in.u8() % kFunctionCount),
                   .first = in.u64(),
                   .second = in.u64(),
                   .seed = in.u64(),
                   .candidates = {},
                   .attention = {}};
  const std::size_t wanted = in.u16();
  call.candidates.resize(std::min(wanted, in.left() / sizeof(std::int32_t)));
  std::ranges::generate(call.candidates, [&] { return in.i32(); });
  call.attention.resize(in.left() / sizeof(std::uint16_t));
  std::ranges::generate(call.attention, [&] { return attention_value(in.u16()); });
  return call;
}

extern const InputForm kMetricsCallForm = {
    .name = "a call of a null model, a mask, a metric or a length helper",
    .most_seed_bytes = 3072,
    .most_input_bytes = 1024,
    .inputs_of = inputs_of,
    .seeds_of = seeds_of,
};

}  // namespace kvwitness::fuzz
