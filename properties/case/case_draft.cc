#include "properties/case/case_draft.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace kvwitness::harness {
namespace {

using Checked = std::optional<DraftError>;

Checked wrong(std::size_t line, std::string_view key, std::string what) {
  return DraftError{.line = line, .key = std::string(key), .what = std::move(what)};
}

Checked check_keys(const CaseDraft& draft) {
  const bool apply = draft.value.operation == Operation::kApply;
  for (std::size_t i = 0; i < kKeyRules.size(); ++i) {
    const KeyRule& rule = kKeyRules[i];
    const std::size_t line = draft.key_lines[i];
    if (line == 0 && rule.required && (apply || !rule.only_apply)) {
      return wrong(draft.line, rule.name, "missing key");
    }
    // The operation's own key comes before these in the table, so its name is known here.
    if (line != 0 && rule.only_apply && !apply) {
      return wrong(line, rule.name, "belongs only to apply, not to " + std::string(name_of(draft.value.operation)));
    }
  }
  return std::nullopt;
}

Checked check_widths(const TokenLists& lists, std::int64_t width, std::string_view key, std::string_view width_name) {
  if (const auto row = lists.first_not_of_width(width)) {
    return wrong(row->line, key,
                 "row " + std::to_string(row->index) + " has " + std::to_string(row->width) + " entries, not " +
                     std::string(width_name) + " = " + std::to_string(width));
  }
  return std::nullopt;
}

Checked check_learned(CaseDraft& draft) {
  if (auto error = check_widths(draft.learned, draft.value.topk, "learned", "topk")) {
    return error;
  }
  if (draft.value.topk == 0 && draft.learned.row_count != 0 &&
      static_cast<std::int64_t>(draft.learned.row_count) != draft.value.rows()) {
    return wrong(draft.line_of(Key::kLearned), "learned",
                 "with topk 0 it is [] or one [] a row, and has " + std::to_string(draft.learned.row_count) + " for " +
                     std::to_string(draft.value.rows()) + " context lengths");
  }
  draft.value.learned = std::move(draft.learned.values);
  draft.value.form = draft.learned.row_count > 0 ? Form::kNested : Form::kFlat;
  draft.value.form = draft.value.written_form();
  return std::nullopt;
}

Checked check_expected_form(const CaseDraft& draft) {
  constexpr std::string_view kKey = "expect.rows";
  const Case& value = draft.value;
  if (value.operation == Operation::kWitnesses) {
    if (draft.expected.flat || static_cast<std::int64_t>(draft.expected.row_count) != value.rows()) {
      return wrong(
          draft.expect_key_line, kKey,
          "must be one list of num_segments entries for each of the " + std::to_string(value.rows()) + " rows");
    }
    return check_widths(draft.expected, value.num_segments, kKey, "num_segments");
  }
  const bool nested = draft.expected.row_count > 0;
  const bool same_form =
      value.written_form() == Form::kFlat
          ? !nested
          : static_cast<std::int64_t>(draft.expected.row_count) * value.topk ==
                    static_cast<std::int64_t>(value.learned.size()) &&
                (value.topk != 0 || static_cast<std::int64_t>(draft.expected.row_count) == value.rows());
  if (!same_form) {
    return wrong(draft.expect_key_line, kKey, "must be lists of the same form and number as learned");
  }
  if (auto error = check_widths(draft.expected, value.topk, kKey, "topk")) {
    return error;
  }
  if (draft.expected.values.size() != value.learned.size()) {
    return wrong(draft.expect_key_line, kKey,
                 "has " + std::to_string(draft.expected.values.size()) + " entries, and learned " +
                     std::to_string(value.learned.size()));
  }
  return std::nullopt;
}

Checked check_expect(CaseDraft& draft) {
  if (draft.expect_key != "rows") {
    return std::nullopt;
  }
  if (auto error = check_expected_form(draft)) {
    return error;
  }
  draft.value.expect = Expectation(std::move(draft.expected.values));
  return std::nullopt;
}

Checked check_attention(const CaseDraft& draft) {
  if (!draft.value.attention) {
    return std::nullopt;
  }
  if (static_cast<std::int64_t>(draft.value.attention->size()) != draft.value.rows()) {
    return wrong(draft.line_of(Key::kAttention), "attention",
                 "has " + std::to_string(draft.value.attention->size()) + " lists for " +
                     std::to_string(draft.value.rows()) + " context lengths");
  }
  for (std::size_t row = 0; row < draft.value.attention->size(); ++row) {
    const std::int64_t wanted = std::max(draft.value.context_lens[row], 0);
    const std::size_t found = (*draft.value.attention)[row].size();
    if (static_cast<std::int64_t>(found) != wanted) {
      return wrong(draft.attention_lines[row], "attention",
                   "row " + std::to_string(row) + " has " + std::to_string(found) + " values for a context of " +
                       std::to_string(wanted));
    }
  }
  return std::nullopt;
}

Checked check_extent(const CaseDraft& draft) {
  const Extent extent = extent_of(draft.value);
  if (extent.touched > kMaxTouchedElements) {
    const bool input = static_cast<std::int64_t>(draft.value.learned.size()) > kMaxTouchedElements;
    const Key key = input ? Key::kLearned : Key::kNumSegments;
    return wrong(draft.line_of(key), name_of_key(key),
                 "the call would touch " + std::to_string(extent.touched) + " elements of a buffer; at most " +
                     std::to_string(kMaxTouchedElements));
  }
  if (extent.spanned > kMaxSpannedElements) {
    return wrong(draft.line_of(Key::kRowStride), "row_stride",
                 "the rows would span " + std::to_string(extent.spanned) + " elements; at most " +
                     std::to_string(kMaxSpannedElements));
  }
  return std::nullopt;
}

}  // namespace

std::optional<DraftError> complete(CaseDraft& draft) {
  Checked error = check_keys(draft);
  error = error ? error : check_learned(draft);
  error = error ? error : check_expect(draft);
  error = error ? error : check_attention(draft);
  return error ? error : check_extent(draft);
}

}  // namespace kvwitness::harness
