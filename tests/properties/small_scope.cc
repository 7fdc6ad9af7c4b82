#include "tests/properties/small_scope.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "properties/implementations/registry.h"

namespace kvwitness::harness {
namespace {

// What tokens of a context can be, as far as the rule tells them apart.
std::vector<std::int32_t> tokens_of(std::int32_t context_len) {
  std::vector<std::int32_t> tokens{-1};
  for (std::int32_t token = 0; token <= std::max(context_len, 0); ++token) {
    tokens.push_back(token);
  }
  tokens.push_back(std::numeric_limits<std::int32_t>::max());
  return tokens;
}

// All rows of the width, as one batch.
std::vector<std::int32_t> all_rows(std::span<const std::int32_t> tokens, std::int64_t width) {
  std::size_t count = 1;
  for (std::int64_t slot = 0; slot < width; ++slot) {
    count *= tokens.size();
  }
  std::vector<std::int32_t> rows;
  rows.reserve(count * static_cast<std::size_t>(width));
  for (std::size_t number = 0; number < count; ++number) {
    std::size_t digits = number;
    for (std::int64_t slot = 0; slot < width; ++slot) {
      rows.push_back(tokens[digits % tokens.size()]);
      digits /= tokens.size();
    }
  }
  return rows;
}

Case batch_of(std::int32_t context_len, std::int64_t num_segments, std::int64_t width) {
  Case value;
  value.topk = width;
  value.num_segments = num_segments;
  const std::vector<std::int32_t> tokens = tokens_of(context_len);
  value.learned = all_rows(tokens, width);
  const std::size_t rows = width == 0 ? 1 : value.learned.size() / static_cast<std::size_t>(width);
  value.context_lens.assign(rows, context_len);
  return value;
}

bool take_applies(Case value, const std::function<bool(const Case&)>& take) {
  value.operation = Operation::kApply;
  for (value.learned_keep = 0; value.learned_keep <= value.topk; ++value.learned_keep) {
    const std::int64_t room = value.topk - value.learned_keep;
    for (value.max_replacements = 0; value.max_replacements <= room + 1; ++value.max_replacements) {
      value.in_place = (value.learned_keep + value.max_replacements) % 2 == 0;
      if (!take(value)) {
        return false;
      }
    }
  }
  return true;
}

bool take_operation(Case value, Operation operation, const std::function<bool(const Case&)>& take) {
  value.operation = operation;
  return take(value);
}

// The row's tokens with padding between, a different distance before each.
void spread(std::span<const std::int32_t> row, std::span<std::int32_t> wide) {
  std::ranges::fill(wide, -1);
  for (std::size_t slot = 0; slot < row.size(); ++slot) {
    wide[slot * wide.size() / row.size() + 7 * slot] = row[slot];
  }
}

void repeat(std::span<const std::int32_t> row, std::span<std::int32_t> wide) {
  for (std::size_t slot = 0; slot < wide.size(); ++slot) {
    wide[slot] = row[slot % row.size()];
  }
}

Case widened(const Case& narrow, std::int64_t width,
             void (*widen)(std::span<const std::int32_t>, std::span<std::int32_t>)) {
  Case value = narrow;
  const auto from = static_cast<std::size_t>(narrow.topk);
  const auto to = static_cast<std::size_t>(width);
  value.topk = width;
  value.learned.resize(narrow.context_lens.size() * to);
  for (std::size_t row = 0; row < narrow.context_lens.size(); ++row) {
    widen(std::span(narrow.learned).subspan(row * from, from), std::span(value.learned).subspan(row * to, to));
  }
  return value;
}

template <typename Take>
void for_each_batch(const SmallScope& scope, std::int64_t narrowest, const Take& take) {
  for (std::int32_t context_len = -1; context_len <= scope.longest_context; ++context_len) {
    for (std::int64_t num_segments = 1; num_segments <= scope.most_segments; ++num_segments) {
      for (std::int64_t width = narrowest; width <= scope.widest_row; ++width) {
        if (!take(batch_of(context_len, num_segments, width))) {
          return;
        }
      }
    }
  }
}

// The case of the one row in which the outcomes differ first, for a person to read.
std::string describe(const Case& value, const Outcome& outcome, const Outcome& expected) {
  const auto differ = std::ranges::mismatch(outcome.rows, expected.rows);
  if (differ.in1 == outcome.rows.end() || outcome.rows.size() != expected.rows.size()) {
    return to_json(value) +
           (outcome.stray.empty() ? " gives another ending, status or size" : " strays: " + outcome.stray);
  }
  const std::size_t slot = static_cast<std::size_t>(differ.in1 - outcome.rows.begin());
  const std::size_t row = slot / (outcome.rows.size() / value.context_lens.size());
  Case single = value;
  single.context_lens = {value.context_lens[row]};
  single.learned.assign(value.learned.begin() + static_cast<std::ptrdiff_t>(row) * value.topk,
                        value.learned.begin() + (static_cast<std::ptrdiff_t>(row) + 1) * value.topk);
  return to_json(single) + " in row " + std::to_string(row) + " of its batch: expected " + std::to_string(*differ.in2) +
         ", got " + std::to_string(*differ.in1);
}

}  // namespace

void for_each_case(const SmallScope& scope, const std::function<bool(const Case&)>& take) {
  for_each_batch(scope, 0, [&](const Case& batch) {
    return take_operation(batch, Operation::kWitnesses, take) && take_operation(batch, Operation::kScatter, take) &&
           take_applies(batch, take);
  });
}

void for_each_wide_case(const SmallScope& scope, std::int64_t width, const std::function<bool(const Case&)>& take) {
  for_each_batch(scope, 1, [&](const Case& batch) {
    for (const auto widen : {spread, repeat}) {
      const Case wide = widened(batch, width, widen);
      if (!take_operation(wide, Operation::kWitnesses, take) || !take_operation(wide, Operation::kScatter, take)) {
        return false;
      }
    }
    return true;
  });
}

ScopeJudge::ScopeJudge(Implementation& implementation) : implementation_(implementation), oracle_(make_oracle()) {}

bool ScopeJudge::judge(const Case& value) {
  if (!complaint_.empty() || !implementation_.supports(value)) {
    return complaint_.empty();
  }
  rows_ += value.rows();
  const Outcome expected = oracle_->run(value);
  const Outcome outcome = implementation_.run(value);
  if (outcome.ending != expected.ending || outcome.status != expected.status || outcome.rows != expected.rows ||
      !outcome.stray.empty()) {
    complaint_ = describe(value, outcome, expected);
  }
  return complaint_.empty();
}

}  // namespace kvwitness::harness
