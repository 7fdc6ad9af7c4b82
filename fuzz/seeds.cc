#include "fuzz/seeds.h"

#include <kvwitness/case.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <string>
#include <utility>

#include "fuzz/c_functions/raw_call.h"
#include "fuzz/engine/replay_files.h"
#include "fuzz/inputs/scheduled_case.h"

namespace kvwitness::fuzz {
namespace {

namespace fs = std::filesystem;
using harness::Case;

struct NamedCase {
  std::string name;
  Case value;
};

// nulls.jsonl holds answers of the null models and is no case file.
bool is_case_file(const fs::path& path) {
  return path.extension() == ".jsonl" && path.filename() != "nulls.jsonl";
}

// Of the large folders every so many-th case: the rest repeats their shapes.
std::size_t step_of(std::string_view folder) {
  return folder == "golden" ? 6 : folder == "real" ? 8 : 1;
}

std::expected<std::vector<NamedCase>, std::string> cases_of_corpus(const std::string& corpus_folder) {
  std::vector<NamedCase> cases;
  for (const std::string folder : {"regressions", "golden", "real"}) {
    const auto files = files_of({(fs::path(corpus_folder) / folder).string()});
    if (!files) {
      return std::unexpected(files.error());
    }
    for (const std::string& file : *files) {
      if (!is_case_file(file)) {
        continue;
      }
      auto read = harness::read_cases(file);
      if (!read) {
        return std::unexpected(read.error().message());
      }
      const std::string stem = fs::path(file).stem().string();
      for (std::size_t i = 0; i < read->size(); i += step_of(folder)) {
        cases.push_back({stem + "-" + std::to_string(i), std::move((*read)[i])});
      }
    }
  }
  return cases;
}

std::vector<std::uint8_t> text_of(const std::string& text) {
  return {text.begin(), text.end()};
}

// ---- Raw calls: every function once in order, and the operations once for each case that is small enough.

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

RawCall raw_call_of(const Case& value, Function function) {
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

std::vector<Function> functions_of(const Case& value) {
  switch (value.operation) {
    case harness::Operation::kWitnesses:
      return {Function::kWitnessIndices, Function::kCudaWitnessIndices};
    case harness::Operation::kApply:
      return {Function::kApply, Function::kCudaApply};
    default:
      return {value.row_stride ? Function::kScatterStrided : Function::kScatter, Function::kCudaScatter};
  }
}

std::vector<std::vector<std::uint8_t>> raw_calls_of(const Case& value) {
  std::vector<std::vector<std::uint8_t>> calls;
  for (const Function function : functions_of(value)) {
    calls.push_back(encode_raw_call(raw_call_of(value, function)));
  }
  return calls;
}

std::vector<Seed> raw_seeds(const std::vector<NamedCase>& cases) {
  std::vector<Seed> seeds;
  for (std::size_t number = 0; number < kFunctionCount; ++number) {
    const auto function = static_cast<Function>(number);
    seeds.push_back({"function-" + std::to_string(number), encode_raw_call(plain_call(function))});
  }
  for (const NamedCase& named : cases) {
    if (!named.name.starts_with("upstream")) {
      for (std::vector<std::uint8_t>& call : raw_calls_of(named.value)) {
        seeds.push_back({named.name + "-" + std::to_string(call.front()), std::move(call)});
      }
    }
  }
  return seeds;
}

// ---- Nulls, masks and metrics: each function with the shape of each case that has few tokens.

void append(std::vector<std::uint8_t>& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) {
    out.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
  }
}

std::vector<std::uint8_t> metrics_input(std::uint8_t function, const Case& value) {
  constexpr std::size_t kMostCandidates = 64;
  std::vector<std::uint8_t> out = {function};
  append(out, static_cast<std::uint32_t>(value.context_lens.empty() ? 0 : value.context_lens.front()), 8);
  append(out, static_cast<std::uint64_t>(value.num_segments), 8);
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

constexpr std::uint8_t kMetricsFunctions = 9;

std::vector<std::vector<std::uint8_t>> metrics_inputs(const Case& value) {
  std::vector<std::vector<std::uint8_t>> inputs;
  inputs.reserve(kMetricsFunctions);
  for (std::uint8_t function = 0; function < kMetricsFunctions; ++function) {
    inputs.push_back(metrics_input(function, value));
  }
  return inputs;
}

std::vector<Seed> metrics_seeds(const std::vector<NamedCase>& cases) {
  std::vector<Seed> seeds;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto function = static_cast<std::uint8_t>(i % kMetricsFunctions);
    seeds.push_back({cases[i].name + "-" + std::to_string(function), metrics_input(function, cases[i].value)});
  }
  return seeds;
}

// ---- Cases

std::vector<std::vector<std::uint8_t>> scheduled_inputs(const Case& value) {
  ScheduledCase scheduled{{kernels::Variant::kBlock, simt::in_order, 1}, 0, value};
  std::vector<std::vector<std::uint8_t>> inputs = {encode_scheduled(scheduled)};
  scheduled.run = {kernels::Variant::kWarp, simt::random_schedule(1), 2};
  scheduled.lengths_choice = 3;
  inputs.push_back(encode_scheduled(scheduled));
  return inputs;
}

// A case whose note needs every kind of escape.
Case with_escapes(Case value) {
  value.note = "tab\t, quote\", backslash\\, newline\n, \xC3\xA9, \xF0\x9F\x98\x80";
  return value;
}

// Cases as each target reads them; the target of text reads short ones as bytes too.
std::vector<Seed> case_seeds(const Target& target, const std::vector<NamedCase>& cases) {
  constexpr std::size_t kMostCaseBytes = 256;
  std::vector<Seed> seeds;
  for (const NamedCase& named : cases) {
    if (target.form == InputForm::kText) {
      seeds.push_back({named.name, text_of(to_json(named.value) + "\n")});
      if (std::vector<std::uint8_t> bytes = encode(named.value); bytes.size() <= kMostCaseBytes) {
        seeds.push_back({named.name + "-bytes", std::move(bytes)});
      }
      if (seeds.size() % 16 == 0) {
        seeds.push_back({named.name + "-escapes", text_of(to_json(with_escapes(named.value)))});
      }
      continue;
    }
    const auto inputs = inputs_of(target, named.value);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      seeds.push_back({inputs.size() == 1 ? named.name : named.name + "-" + std::to_string(i), inputs[i]});
    }
  }
  return seeds;
}

}  // namespace

std::size_t most_seed_bytes(const Target& target) {
  return target.form == InputForm::kText ? 4096 : 3072;
}

std::size_t most_input_bytes(const Target& target) {
  return target.form == InputForm::kRawCall || target.form == InputForm::kBytes ? 1024 : 4096;
}

std::vector<std::vector<std::uint8_t>> inputs_of(const Target& target, const Case& value) {
  switch (target.form) {
    case InputForm::kCase:
      return {encode(value)};
    case InputForm::kScheduledCase:
      return scheduled_inputs(value);
    case InputForm::kRawCall:
      return raw_calls_of(value);
    case InputForm::kText:
      return {text_of(to_json(value) + "\n")};
    default:
      return metrics_inputs(value);
  }
}

std::expected<std::vector<Seed>, std::string> seeds_of(const Target& target, const std::string& corpus_folder) {
  const auto cases = cases_of_corpus(corpus_folder);
  if (!cases) {
    return std::unexpected(cases.error());
  }
  std::vector<Seed> seeds = target.form == InputForm::kRawCall ? raw_seeds(*cases)
                            : target.form == InputForm::kBytes ? metrics_seeds(*cases)
                                                               : case_seeds(target, *cases);
  std::erase_if(seeds, [&](const Seed& seed) { return seed.bytes.size() > most_seed_bytes(target); });
  return seeds;
}

}  // namespace kvwitness::fuzz
