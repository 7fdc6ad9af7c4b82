// Raw calls as a form of input: what they start from.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "fuzz/c_functions/c_function.h"
#include "fuzz/c_functions/refusal_rule.h"

namespace kvwitness::fuzz {
namespace {

// A call with which the function succeeds: 2 rows of 4 slots, 4 segments, buffers apart from each other.
RawCall plain_call(const CFunction& function) {
  RawCall call;
  call.function = function_number(function.name);
  call.counts = {4, 2, 8, 4, 2, 4, 4, 4, 8, 2, 1, 1};
  for (const auto& [place, value] : function.own_counts) {
    call.counts[place] = value;
  }
  call.pointers = {256, 512, 1024, 2048, 0};
  call.text = function.plain_text;
  call.fill = {0, 0, 0, 0, 5, 0, 0, 0, 9, 0, 0, 0, 255, 255, 255, 255};
  return call;
}

RawCall raw_call_of(const harness::Case& value, const CFunction& function) {
  RawCall call = plain_call(function);
  call.counts[kTopk] = value.topk;
  call.counts[kRows] = value.rows();
  call.counts[kLen] = static_cast<std::int64_t>(value.learned.size());
  call.counts[kSegments] = value.num_segments;
  call.counts[kKeep] = value.learned_keep;
  call.counts[kReplacements] = value.max_replacements;
  call.counts[kStride] = value.row_stride.value_or(value.topk);
  call.counts[kOutStride] = call.counts[kStride];
  call.counts[kOutLen] = call.counts[kLen];
  call.counts[kLengthsCount] = value.rows();
  if (value.in_place) {
    call.pointers[kOut] = call.pointers[kLearned];
  }
  return call;
}

std::vector<Bytes> inputs_of(const harness::Case& value) {
  std::vector<Bytes> calls;
  for (const CFunction& function : c_functions()) {
    if (function.takes != nullptr && function.takes(value)) {
      calls.push_back(encode_raw_call(raw_call_of(value, function)));
    }
  }
  return calls;
}

// The plain call with each other buffer so that it shares so many bytes with each output: it reaches into it, or the
// output reaches into it.
std::vector<RawCall> overlaps_of(const CFunction& function, std::int32_t shared) {
  std::vector<RawCall> calls;
  const RawCall plain = plain_call(function);
  const std::vector<Buffer> buffers = buffers_of(function, plain);
  for (const Buffer& output : buffers) {
    for (const Buffer& other : buffers) {
      if (output.kind != ArgumentKind::kOutput || &other == &output) {
        continue;
      }
      const auto place =
          static_cast<std::size_t>(std::ranges::find(plain.pointers, other.pointer) - plain.pointers.begin());
      for (const Wide at : {output.pointer + output.bytes - shared, output.pointer - other.bytes + shared}) {
        calls.push_back(plain);
        calls.back().pointers.at(place) = static_cast<std::int32_t>(at);
        if (at < 0) {
          calls.pop_back();
        }
      }
    }
  }
  return calls;
}

// Every function once in order, the overlaps by a few bytes, and the operations once for each case.
std::vector<Seed> seeds_of(std::span<const NamedCase> cases) {
  constexpr std::int32_t kMostShared = 8;
  std::vector<Seed> seeds;
  for (const CFunction& function : c_functions()) {
    seeds.push_back({"function-" + std::to_string(seeds.size()), encode_raw_call(plain_call(function))});
  }
  for (const CFunction& function : c_functions()) {
    for (std::int32_t shared = 1; shared <= kMostShared; ++shared) {
      for (const RawCall& call : overlaps_of(function, shared)) {
        seeds.push_back({"overlap-" + std::to_string(seeds.size()), encode_raw_call(call)});
      }
    }
  }
  for (const NamedCase& named : cases) {
    if (!named.name.starts_with("upstream")) {
      for (Bytes& call : inputs_of(named.value)) {
        seeds.push_back({named.name + "-" + std::to_string(call.front()), std::move(call)});
      }
    }
  }
  return seeds;
}

}  // namespace

extern const InputForm kRawCallForm = {
    .name = "a raw call: any counts, pointers anywhere in one small arena or null",
    .most_seed_bytes = 3072,
    .most_input_bytes = 1024,
    .inputs_of = inputs_of,
    .seeds_of = seeds_of,
};

}  // namespace kvwitness::fuzz
