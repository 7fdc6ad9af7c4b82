// Raw calls as a form of input: what they start from.
#include <string>
#include <utility>

#include "fuzz/c_functions/raw_call.h"

namespace kvwitness::fuzz {
namespace {

// Counts and pointers with which every function succeeds: 2 rows of 4 slots, 4 segments, buffers apart from each other.
RawCall plain_call(Function function) {
  RawCall call;
  call.function = function;
  call.counts = {4, 2, 8, 4, 2, 4, 4, 4, 8, 2, 1, 1};
  call.pointers = {0, 512, 1024, 2048, 0};
  call.text = function == Function::kSetBackend ? "scalar" : "64";
  call.fill = {0, 0, 0, 0, 5, 0, 0, 0, 9, 0, 0, 0, 255, 255, 255, 255};
  switch (function) {
    case Function::kMaskRandom:
    case Function::kMaskLocal:
      call.counts[kLen] = 16;
      break;
    case Function::kLensFromRequests:
      call.counts[kTopk] = 3;
      break;
    default:
      break;
  }
  return call;
}

RawCall raw_call_of(const harness::Case& value, Function function) {
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

std::vector<Function> functions_of(const harness::Case& value) {
  switch (value.operation) {
    case harness::Operation::kWitnesses:
      return {Function::kWitnessIndices, Function::kCudaWitnessIndices};
    case harness::Operation::kApply:
      return {Function::kApply, Function::kCudaApply};
    default:
      return {value.row_stride ? Function::kScatterStrided : Function::kScatter, Function::kCudaScatter};
  }
}

std::vector<Bytes> inputs_of(const harness::Case& value) {
  std::vector<Bytes> calls;
  for (const Function function : functions_of(value)) {
    calls.push_back(encode_raw_call(raw_call_of(value, function)));
  }
  return calls;
}

// Every function once in order, and the operations once for each case.
std::vector<Seed> seeds_of(std::span<const NamedCase> cases) {
  std::vector<Seed> seeds;
  for (std::size_t number = 0; number < kFunctionCount; ++number) {
    const auto function = static_cast<Function>(number);
    seeds.push_back({"function-" + std::to_string(number), encode_raw_call(plain_call(function))});
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
