#include <kvwitness/case.h>
#include <kvwitness/legality.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "properties/case/status.h"

namespace kvwitness::harness {
namespace {

// Everything but the form and the prior calls, whose comparison is recursive.
auto fields_of(const Case& value) {
  return std::tie(value.operation, value.topk, value.num_segments, value.learned_keep, value.max_replacements,
                  value.context_lens, value.learned, value.row_stride, value.in_place, value.base_offset, value.expect,
                  value.note, value.attention);
}

bool is_switched_off(const Case& value) {
  return value.operation == Operation::kScatter && value.num_segments == 0;
}

}  // namespace

std::string_view name_of(Operation operation) noexcept {
  switch (operation) {
    case Operation::kWitnesses:
      return "witnesses";
    case Operation::kApply:
      return "apply";
    case Operation::kScatter:
      return "scatter";
  }
  return "";
}

Form Case::written_form() const noexcept {
  const auto learned_count = static_cast<std::int64_t>(learned.size());
  if (learned_count == 0) {
    // One [] a row is another text than [] only for rows of no tokens.
    return topk == 0 && rows() > 0 ? form : Form::kNested;
  }
  return topk > 0 && learned_count % topk == 0 ? form : Form::kFlat;
}

bool operator==(const Case& a, const Case& b) {
  return fields_of(a) == fields_of(b) && a.written_form() == b.written_form() && a.prior_calls == b.prior_calls;
}

Case call_only(Case value) {
  value.expect.reset();
  value.note.clear();
  value.attention.reset();
  for (Case& prior : value.prior_calls) {
    prior = call_only(std::move(prior));
  }
  return value;
}

std::string CaseError::message() const {
  std::string text = file;
  if (line != 0) {
    text += ':' + std::to_string(line);
  }
  if (!key.empty()) {
    text += ": " + key;
  }
  return text + ": " + what;
}

Extent extent_of(const Case& value) {
  Extent extent;
  const bool legal_packed = expected_status(value, false) == status::kOk;
  const bool legal_strided = expected_status(value, true) == status::kOk;
  if (is_switched_off(value) || !(legal_packed || legal_strided)) {
    return extent;
  }
  extent.touched = static_cast<std::int64_t>(value.learned.size());
  if (value.operation == Operation::kWitnesses) {
    extent.touched =
        std::max(extent.touched, value.rows() * value.num_segments);  // within PTRDIFF_MAX bytes, or refused
  }
  if (legal_strided && value.topk > 0 && value.rows() > 0) {
    extent.spanned = (value.rows() - 1) * value.row_stride.value_or(value.topk) + value.topk;
  }
  return extent;
}

std::optional<std::string> beyond_limits(const Case& value, bool honours_stride) {
  const bool touches_nothing = expected_status(value, honours_stride) != 0 ||
                               (value.operation == Operation::kScatter && value.num_segments == 0);
  if (touches_nothing) {
    return std::nullopt;
  }
  const Extent extent = extent_of(value);
  if (extent.touched > kMaxTouchedElements) {
    return "the call would touch more than 2^28 elements of a buffer";
  }
  if (honours_stride && extent.spanned > kMaxSpannedElements) {
    return "the call would span more than 2^36 elements";
  }
  return std::nullopt;
}

std::int64_t unlisted_elements(std::span<const Case> calls) {
  std::int64_t sum = 0;
  for (const Case& call : calls) {
    sum += std::max<std::int64_t>(extent_of(call).touched - static_cast<std::int64_t>(call.learned.size()), 0);
  }
  return sum;
}

bool is_within_limits(const Case& value) {
  const Extent extent = extent_of(value);
  return extent.touched <= kMaxTouchedElements && extent.spanned <= kMaxSpannedElements &&
         std::ranges::all_of(value.prior_calls, is_within_limits) &&
         unlisted_elements(value.prior_calls) <= kMaxPriorElements;
}

}  // namespace kvwitness::harness
