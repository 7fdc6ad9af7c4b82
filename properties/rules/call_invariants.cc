// The properties of a call as a whole: its answer against the oracle's, its refusals, and what it touched.
#include <kvwitness/legality.h>
#include <kvwitness/oracle.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "properties/case/status.h"
#include "properties/rules/judged_rows.h"
#include "properties/rules/judges.h"

namespace kvwitness::harness::judges {
namespace {

std::string numbered(std::int32_t status) {
  return std::to_string(status) + " (" + std::string(status_name(status)) + ")";
}

// The verdict on a call's ending, for properties that concern refused calls too: nothing where it returned.
std::optional<Verdict> ended_badly(const Outcome& outcome) {
  if (outcome.ending != Ending::kReturned) {
    return broken(why_not_returned(outcome));
  }
  return std::nullopt;
}

// From how many rows on equal ones are looked for: the rule is then asked for each but once.
constexpr std::int64_t kManyRows = 512;

struct DistinctRows {
  Case value;                        // with each row once
  std::vector<std::int64_t> number;  // [rows]: which row of it
};

// Rows with the same length and tokens are one. Linear in the case's size, unless hashes collide.
DistinctRows distinct_rows(const Case& value) {
  DistinctRows distinct;
  distinct.value.operation = value.operation;
  distinct.value.topk = value.topk;
  distinct.value.num_segments = value.num_segments;
  distinct.value.learned_keep = value.learned_keep;
  distinct.value.max_replacements = value.max_replacements;
  std::unordered_multimap<std::size_t, std::int64_t> seen;  // first row of the batch, by hash
  std::vector<std::int64_t> firsts;                         // by number
  const auto tokens = [&](std::int64_t row) {
    return std::span(value.learned)
        .subspan(static_cast<std::size_t>(row * value.topk), static_cast<std::size_t>(value.topk));
  };
  const auto length = [&](std::int64_t row) { return value.context_lens[static_cast<std::size_t>(row)]; };
  for (std::int64_t row = 0; row < value.rows(); ++row) {
    const std::string_view bytes(reinterpret_cast<const char*>(tokens(row).data()), tokens(row).size_bytes());
    const std::size_t hash = std::hash<std::string_view>{}(bytes) ^ static_cast<std::uint32_t>(length(row));
    auto [candidate, end] = seen.equal_range(hash);
    while (candidate != end) {
      const std::int64_t first = firsts[static_cast<std::size_t>(candidate->second)];
      if (length(first) == length(row) && std::ranges::equal(tokens(first), tokens(row))) break;
      ++candidate;
    }
    if (candidate != end) {
      distinct.number.push_back(candidate->second);
      continue;
    }
    distinct.number.push_back(std::ssize(firsts));
    seen.emplace(hash, std::ssize(firsts));
    firsts.push_back(row);
    distinct.value.context_lens.push_back(length(row));
    distinct.value.learned.insert(distinct.value.learned.end(), tokens(row).begin(), tokens(row).end());
  }
  return distinct;
}

Verdict right_status(const Case& value, const Outcome& outcome, const Implementation& implementation) {
  const std::int32_t wanted = expected_status(value, sees_stride(implementation, value));
  if (outcome.status == wanted) {
    return Verdict::holds();
  }
  return broken("the call was answered with status " + numbered(outcome.status) + ", not " + numbered(wanted) +
                (outcome.message.empty() ? "" : "; the implementation says: " + outcome.message));
}

}  // namespace

Verdict oracle_equality(const Case& value, const Outcome& outcome, Implementation& implementation) {
  if (auto verdict = ended_badly(outcome)) {
    return *verdict;
  }
  Verdict status = right_status(value, outcome, implementation);
  if (status.kind == Verdict::Kind::kBroken || outcome.status != status::kOk) {
    return status;
  }
  if (auto verdict = unjudgeable(value, outcome, implementation)) {
    return *verdict;
  }
  constexpr const char* kWhat = "the result differs from the rule's";
  const std::int64_t width = result_width(value);
  if (value.rows() < kManyRows || value.topk == 0) {
    return compare_rows(expected_rows(value), outcome.rows, width, kWhat);
  }
  const DistinctRows distinct = distinct_rows(value);
  const std::vector<std::int32_t> expected = expected_rows(distinct.value);
  const auto row_of = [width](const std::vector<std::int32_t>& rows, std::int64_t row) {
    return std::span(rows).subspan(static_cast<std::size_t>(row * width), static_cast<std::size_t>(width));
  };
  for (std::int64_t row = 0; row < value.rows(); ++row) {
    const auto wanted = row_of(expected, distinct.number[static_cast<std::size_t>(row)]);
    Verdict verdict = compare_rows(wanted, row_of(outcome.rows, row), width, kWhat, row);
    if (verdict.kind == Verdict::Kind::kBroken) {
      return verdict;
    }
  }
  return Verdict::holds();
}

Verdict refusal(const Case& value, const Outcome& outcome, Implementation& implementation) {
  if (auto verdict = ended_badly(outcome)) {
    return *verdict;
  }
  return right_status(value, outcome, implementation);
}

Verdict refused_writes_nothing(const Case& value, const Outcome& outcome, Implementation& implementation) {
  const bool must_be_refused = !legal_for(implementation, value);
  if (!must_be_refused && outcome.status == status::kOk && outcome.ending == Ending::kReturned) {
    return Verdict::silent();
  }
  if (auto verdict = ended_badly(outcome)) {
    return *verdict;
  }
  if (!outcome.stray.empty()) {
    return broken("a refused call wrote: " + outcome.stray);
  }
  if (outcome.rows.size() != outcome.before.size()) {
    return broken("a refused call left " + std::to_string(outcome.rows.size()) + " elements of " +
                  std::to_string(outcome.before.size()));
  }
  return compare_rows(outcome.before, outcome.rows, result_width(value), "a refused call wrote");
}

Verdict bounds(const Case&, const Outcome& outcome, Implementation&) {
  if (auto verdict = ended_badly(outcome)) {
    return *verdict;
  }
  if (!outcome.stray.empty()) {
    return broken(outcome.stray);
  }
  for (const Outcome& earlier : outcome.prior_calls) {
    if (!earlier.stray.empty()) {
      return broken("in a call before this one: " + earlier.stray);
    }
  }
  return Verdict::holds();
}

}  // namespace kvwitness::harness::judges
