#include "properties/rules/judged_rows.h"

#include <kvwitness/assertions.h>
#include <kvwitness/legality.h>

#include <algorithm>
#include <utility>

#include "properties/case/status.h"

namespace kvwitness::harness {

Verdict broken(std::string what) {
  Verdict verdict;
  verdict.kind = Verdict::Kind::kBroken;
  verdict.what = std::move(what);
  return verdict;
}

Verdict broken(std::string what, Difference difference) {
  Verdict verdict = broken(std::move(what));
  verdict.difference = difference;
  return verdict;
}

bool legal_for(const Implementation& implementation, const Case& value) {
  return expected_status(value, sees_stride(implementation, value)) == status::kOk;
}

std::string why_not_returned(const Outcome& outcome) {
  switch (outcome.ending) {
    case Ending::kReturned:
    case Ending::kUnsupported:
      return "";
    case Ending::kCrashed:
    case Ending::kExited:
    case Ending::kHung:
    case Ending::kProtocolError:
      break;
  }
  return "the call did not return: " + outcome.how;
}

std::optional<Verdict> unjudgeable(const Case& value, const Outcome& outcome, const Implementation& implementation) {
  if (outcome.ending == Ending::kUnsupported || !legal_for(implementation, value)) {
    return Verdict::silent();
  }
  if (outcome.ending != Ending::kReturned) {
    return broken(why_not_returned(outcome));
  }
  if (outcome.status != status::kOk) {
    return broken("a legal call was answered with status " + std::to_string(outcome.status) + " (" +
                  std::string(status_name(outcome.status)) + ")" +
                  (outcome.message.empty() ? "" : ": " + outcome.message));
  }
  const std::int64_t elements = output_elements(value);
  if (static_cast<std::int64_t>(outcome.rows.size()) != elements) {
    return broken("the result has " + std::to_string(outcome.rows.size()) + " elements, not " +
                  std::to_string(elements));
  }
  return std::nullopt;
}

bool is_off(const Case& value) {
  return value.operation == Operation::kScatter && value.num_segments == 0;
}

Merge merge_of(const Case& value) {
  if (value.operation == Operation::kApply) {
    return {value.learned_keep, std::min(value.max_replacements, value.topk - value.learned_keep)};
  }
  const std::int64_t keep = std::max<std::int64_t>(0, value.topk - value.num_segments);
  return {keep, std::min(value.num_segments, value.topk - keep)};
}

std::int64_t result_width(const Case& value) {
  return value.operation == Operation::kWitnesses ? value.num_segments : value.topk;
}

std::string JudgedRow::name() const {
  return "row " + std::to_string(index) + " (L = " + std::to_string(context_len) +
         ", S = " + std::to_string(num_segments) + ")";
}

JudgedRows::JudgedRows(const Case& value, std::span<const std::int32_t> result)
    : value_(value), result_(result), result_width_(result_width(value)), merge_(merge_of(value)) {
  KVWITNESS_ASSERT(!is_off(value));
  KVWITNESS_ASSERT(std::ssize(result) == value.rows() * result_width_, std::ssize(result), value.rows(), result_width_);
}

JudgedRow JudgedRows::operator[](std::int64_t row) const {
  KVWITNESS_ASSERT(row >= 0 && row < count(), row, count());
  const std::int64_t context_len = value_.context_lens[static_cast<std::size_t>(row)];
  const auto slice = [row](std::span<const std::int32_t> buffer, std::int64_t width) {
    return buffer.subspan(static_cast<std::size_t>(row * width), static_cast<std::size_t>(width));
  };
  return {.index = row,
          .context_len = context_len,
          .num_segments = value_.num_segments,
          .effective_segments = std::clamp<std::int64_t>(context_len, 0, value_.num_segments),
          .learned = slice(value_.learned, value_.topk),
          .result = slice(result_, result_width_)};
}

std::span<const Written> JudgedRows::written(const JudgedRow& row) {
  written_.clear();
  for (std::size_t slot = 0; slot < row.result.size(); ++slot) {
    const std::int32_t without = merges() ? row.learned[slot] : -1;
    if (row.result[slot] != without) {
      written_.push_back({static_cast<std::int64_t>(slot), row.result[slot]});
    }
  }
  return written_;
}

std::span<const char> JudgedRows::occupied(const JudgedRow& row) {
  occupied_.assign(static_cast<std::size_t>(row.effective_segments), 0);
  if (!row.is_empty()) {
    for (const std::int32_t token : row.learned) {
      if (token < 0) {
        continue;
      }
      const std::int64_t segment = std::min(row.segment_of(token), row.num_segments - 1);
      if (segment < row.effective_segments) {  // else outside the partition of a row shorter than S
        occupied_[static_cast<std::size_t>(segment)] = 1;
      }
    }
  }
  return occupied_;
}

std::int64_t JudgedRows::witness_count(const JudgedRow& row) {
  return std::ranges::count(occupied(row), 0);
}

namespace {

// Where two results first differ; nothing where they are equal.
std::optional<Difference> first_difference(std::span<const std::int32_t> expected, std::span<const std::int32_t> actual,
                                           std::int64_t width, std::int64_t first_row) {
  KVWITNESS_ASSERT(expected.size() == actual.size(), expected.size(), actual.size());
  const auto [wanted, got] = std::ranges::mismatch(expected, actual);
  if (wanted == expected.end()) {
    return std::nullopt;
  }
  const std::int64_t at = wanted - expected.begin();
  return Difference{.row = first_row + (width > 0 ? at / width : 0),
                    .slot = width > 0 ? at % width : at,
                    .expected = *wanted,
                    .actual = *got};
}

std::string at(const Difference& difference) {
  return "row " + std::to_string(difference.row) + ", slot " + std::to_string(difference.slot);
}

}  // namespace

Verdict compare_rows(std::span<const std::int32_t> expected, std::span<const std::int32_t> actual, std::int64_t width,
                     const std::string& what, std::int64_t first_row) {
  const auto difference = first_difference(expected, actual, width, first_row);
  return !difference ? Verdict::holds()
                     : broken(what + ": " + at(*difference) + " holds " + std::to_string(difference->actual) +
                                  ", not " + std::to_string(difference->expected),
                              *difference);
}

Verdict compare_runs(std::span<const std::int32_t> one, std::span<const std::int32_t> other, std::int64_t width,
                     const std::string& what, std::int64_t first_row) {
  const auto difference = first_difference(one, other, width, first_row);
  return !difference ? Verdict::holds()
                     : broken(what + ": " + at(*difference) + " holds " + std::to_string(difference->actual) +
                                  " in one run and " + std::to_string(difference->expected) + " in the other",
                              *difference);
}

}  // namespace kvwitness::harness
