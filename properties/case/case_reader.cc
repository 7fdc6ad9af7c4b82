// The case is read by the JSON library's events and not from its tree, for two reasons: a tree silently keeps the last of
// two equal keys, and it has no line numbers.
#include "properties/case/case_reader.h"

#include <kvwitness/assertions.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "properties/case/case_draft.h"
#include "properties/case/case_keys.h"
#include "properties/case/json_text.h"
#include "properties/case/status.h"

namespace kvwitness::harness {
namespace {

using Json = nlohmann::json;

std::optional<Key> find_key(std::string_view name) {
  for (std::size_t i = 0; i < kKeyRules.size(); ++i) {
    if (kKeyRules[i].name == name) {
      return static_cast<Key>(i);
    }
  }
  return std::nullopt;
}

std::optional<Operation> find_operation(std::string_view name) {
  for (const Operation operation : {Operation::kWitnesses, Operation::kApply, Operation::kScatter}) {
    if (name_of(operation) == name) {
      return operation;
    }
  }
  return std::nullopt;
}

// For messages: a file's own text, cut short and quoted.
std::string excerpt(std::string_view text) {
  constexpr std::size_t kMaxLength = 60;
  return text.size() <= kMaxLength ? json_string(text) : json_string(text.substr(0, kMaxLength)) + "...";
}

// The input iterator that the lexer reads through; the end of the range has no cursor.
class CursorIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  explicit CursorIterator(Cursor* cursor) : cursor_(cursor) {}
  reference operator*() const { return *cursor_->next; }
  CursorIterator& operator++() {
    cursor_->advance();
    return *this;
  }
  CursorIterator operator++(int) {
    const CursorIterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const CursorIterator& a, const CursorIterator& b) { return a.at_end() == b.at_end(); }

 private:
  bool at_end() const { return cursor_ == nullptr || cursor_->next == cursor_->end; }
  Cursor* cursor_;
};

// Where in a case's object the reader is.
enum class Place : std::uint8_t {
  kKeys,
  kContextLens,
  kTokenLists,
  kTokenRow,
  kExpect,
  kAttention,
  kAttentionRow,
  kPriorCalls
};

// A case whose object is open.
struct OpenCase : CaseDraft {
  Place place = Place::kKeys;
  std::optional<Key> key;           // the last one read
  std::int64_t prior_elements = 0;  // unlisted_elements() of its prior calls

  bool reads_expected_rows() const { return key == Key::kExpect && expect_key == "rows"; }
  TokenLists& lists() { return key == Key::kLearned ? learned : expected; }
};

class CaseReader {
 public:
  CaseReader(const Cursor& cursor, std::string_view file) : cursor_(cursor), file_(file) {}

  // The JSON library's events; each returns whether to go on.
  bool null() { return refuse_value("null"); }
  bool boolean(bool value);
  bool number_integer(std::int64_t value) { return number(value, std::to_string(value), static_cast<double>(value)); }
  bool number_unsigned(std::uint64_t value);
  bool number_float(double value, const std::string& text) { return number(std::nullopt, text, value); }
  bool string(std::string& value);
  bool binary(Json::binary_t&) { return refuse_value("binary data"); }
  bool start_object(std::size_t);
  bool key(std::string& name);
  bool end_object();
  bool start_array(std::size_t);
  bool end_array();
  bool parse_error(std::size_t, const std::string&, const Json::exception& error);

  Case take_case() { return std::move(finished_); }
  CaseError take_error() { return std::move(error_); }

 private:
  OpenCase& draft() { return open_.back(); }
  std::string path(std::string_view key) const;
  bool fail(std::size_t line, std::string_view key, std::string what);
  bool refuse_value(const std::string& found);
  bool number(std::optional<std::int64_t> value, const std::string& text, double real);
  bool count(std::int64_t& field, std::optional<std::int64_t> value, const std::string& text);
  bool token(std::vector<std::int32_t>& list, std::optional<std::int64_t> value, const std::string& text);
  bool number_for_key(std::optional<std::int64_t> value, const std::string& text);
  bool start_case();
  bool expect_key(const std::string& name);

  bool finish_case();

  const Cursor& cursor_;
  std::string_view file_;
  std::vector<OpenCase> open_;  // the case, and its prior call that is being read
  Case finished_;
  CaseError error_;
};

std::string CaseReader::path(std::string_view key) const {
  std::string path(key);
  if (open_.size() == 2) {
    path = "after[" + std::to_string(open_.front().value.prior_calls.size()) + "]" + (path.empty() ? "" : "." + path);
  }
  return path;
}

bool CaseReader::fail(std::size_t line, std::string_view key, std::string what) {
  error_ = {.file = std::string(file_), .line = line, .key = path(key), .what = std::move(what)};
  return false;
}

// The value just read is of a kind that its place does not take.
bool CaseReader::refuse_value(const std::string& found) {
  if (open_.empty()) {
    return fail(cursor_.line, "", "a case is a JSON object, not " + found);
  }
  if (draft().key == Key::kExpect && !draft().expect_key.empty()) {
    const bool rows = draft().expect_key == "rows";
    return fail(cursor_.line, "expect." + draft().expect_key,
                "must be " +
                    std::string(rows ? "a list of integers from -2147483648 to 2147483647, or one such list a row"
                                     : "the name of a refusal, such as \"rows mismatch\"") +
                    ", not " + found);
  }
  const KeyRule& rule = kKeyRules[index_of(*draft().key)];
  return fail(cursor_.line, rule.name, "must be " + std::string(rule.wanted) + ", not " + found);
}

bool CaseReader::boolean(bool value) {
  if (!open_.empty() && draft().place == Place::kKeys && draft().key == Key::kInPlace && value) {
    draft().value.in_place = true;
    return true;
  }
  return refuse_value(value ? "true" : "false");
}

bool CaseReader::number_unsigned(std::uint64_t value) {
  const bool fits = value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return number(fits ? std::optional(static_cast<std::int64_t>(value)) : std::nullopt, std::to_string(value),
                static_cast<double>(value));
}

// `value` is absent where the number is no 64-bit integer.
bool CaseReader::number(std::optional<std::int64_t> value, const std::string& text, double real) {
  if (open_.empty()) {
    return refuse_value(text);
  }
  switch (draft().place) {
    case Place::kKeys:
      return number_for_key(value, text);
    case Place::kContextLens:
      return token(draft().value.context_lens, value, text);
    case Place::kTokenLists:
      if (draft().lists().row_count > 0) {
        return fail(cursor_.line, draft().key == Key::kLearned ? "learned" : "expect.rows", "mixes lists and integers");
      }
      draft().lists().flat = true;
      return token(draft().lists().values, value, text);
    case Place::kTokenRow:
      return token(draft().lists().values, value, text);
    case Place::kAttentionRow:
      if (!(real >= 0)) {
        return refuse_value(text);
      }
      draft().value.attention->back().push_back(real);
      return true;
    case Place::kExpect:
    case Place::kAttention:
    case Place::kPriorCalls:
      break;
  }
  return refuse_value(text);
}

bool CaseReader::count(std::int64_t& field, std::optional<std::int64_t> value, const std::string& text) {
  if (!value) {
    return refuse_value(text);
  }
  field = *value;
  return true;
}

bool CaseReader::token(std::vector<std::int32_t>& list, std::optional<std::int64_t> value, const std::string& text) {
  if (!value || *value < std::numeric_limits<std::int32_t>::min() ||
      *value > std::numeric_limits<std::int32_t>::max()) {
    return refuse_value(text);
  }
  list.push_back(static_cast<std::int32_t>(*value));
  return true;
}

bool CaseReader::number_for_key(std::optional<std::int64_t> value, const std::string& text) {
  Case& result = draft().value;
  switch (*draft().key) {
    case Key::kVersion:
      return value == 1 || refuse_value(text);
    case Key::kTopk:
      return count(result.topk, value, text);
    case Key::kNumSegments:
      return count(result.num_segments, value, text);
    case Key::kLearnedKeep:
      return count(result.learned_keep, value, text);
    case Key::kMaxReplacements:
      return count(result.max_replacements, value, text);
    case Key::kRowStride:
      return count(result.row_stride.emplace(), value, text);
    case Key::kBaseOffset:
      if (!value || *value < 0 || *value > 15) {
        return refuse_value(text);
      }
      result.base_offset = static_cast<std::int32_t>(*value);
      return true;
    default:
      return refuse_value(text);
  }
}

bool CaseReader::string(std::string& value) {
  if (open_.empty()) {
    return refuse_value(excerpt(value));
  }
  if (draft().place == Place::kKeys && draft().key == Key::kOperation) {
    const std::optional<Operation> operation = find_operation(value);
    draft().value.operation = operation.value_or(Operation::kScatter);
    return operation || refuse_value(excerpt(value));
  }
  if (draft().place == Place::kKeys && draft().key == Key::kNote) {
    draft().value.note = std::move(value);
    return true;
  }
  if (draft().place == Place::kExpect && draft().expect_key == "refused") {
    const std::optional<std::int32_t> number = status_number(value);
    draft().value.expect = Expectation(number.value_or(status::kOk));
    return number.value_or(status::kOk) != status::kOk || refuse_value(excerpt(value));
  }
  return refuse_value(excerpt(value));
}

bool CaseReader::start_object(std::size_t) {
  if (open_.empty() || draft().place == Place::kPriorCalls) {
    return start_case();
  }
  if (draft().place == Place::kKeys && draft().key == Key::kExpect) {
    draft().place = Place::kExpect;
    return true;
  }
  return refuse_value("an object");
}

bool CaseReader::start_case() {
  open_.emplace_back().line = cursor_.line;
  return true;
}

bool CaseReader::key(std::string& name) {
  if (draft().place == Place::kExpect) {
    return expect_key(name);
  }
  const std::optional<Key> found = find_key(name);
  if (!found) {
    return fail(cursor_.line, excerpt(name), "unknown key");
  }
  if (draft().has(*found)) {
    return fail(cursor_.line, name, "repeated key; it is first on line " + std::to_string(draft().line_of(*found)));
  }
  if (found == Key::kAfter && open_.size() == 2) {
    return fail(cursor_.line, name, "a case that runs before another has no `after` of its own");
  }
  draft().key = found;
  draft().key_lines[index_of(*found)] = cursor_.line;
  return true;
}

bool CaseReader::expect_key(const std::string& name) {
  const std::string before = draft().expect_key;
  if (name != "rows" && name != "refused") {
    return fail(cursor_.line, "expect." + excerpt(name), "unknown key; it is \"rows\" or \"refused\"");
  }
  if (name == before) {
    return fail(cursor_.line, "expect." + name, "repeated key");
  }
  if (!before.empty()) {
    return fail(cursor_.line, "expect." + name, "a call gives rows or is refused, not both");
  }
  draft().expect_key = name;
  draft().expect_key_line = cursor_.line;
  return true;
}

bool CaseReader::end_object() {
  if (draft().place != Place::kExpect) {
    return finish_case();
  }
  if (draft().expect_key.empty()) {
    return fail(cursor_.line, "expect",
                "must be " + std::string(kKeyRules[index_of(Key::kExpect)].wanted) + ", not empty");
  }
  draft().place = Place::kKeys;
  return true;
}

bool CaseReader::start_array(std::size_t) {
  if (open_.empty()) {
    return refuse_value("a list");
  }
  OpenCase& now = draft();
  if (now.place == Place::kKeys && now.key == Key::kContextLens) {
    now.place = Place::kContextLens;
  } else if ((now.place == Place::kKeys && now.key == Key::kLearned) ||
             (now.place == Place::kExpect && now.expect_key == "rows")) {
    now.place = Place::kTokenLists;
  } else if (now.place == Place::kTokenLists && !now.lists().flat) {
    now.place = Place::kTokenRow;
    now.lists().open_row(cursor_.line);
  } else if (now.place == Place::kKeys && now.key == Key::kAttention) {
    now.place = Place::kAttention;
    now.value.attention.emplace();
  } else if (now.place == Place::kAttention) {
    now.place = Place::kAttentionRow;
    now.value.attention->emplace_back();
    now.attention_lines.push_back(cursor_.line);
  } else if (now.place == Place::kKeys && now.key == Key::kAfter) {
    now.place = Place::kPriorCalls;
  } else {
    return refuse_value("a list");
  }
  return true;
}

bool CaseReader::end_array() {
  OpenCase& now = draft();
  if (now.place == Place::kTokenRow) {
    now.lists().close_row();
    now.place = Place::kTokenLists;
  } else if (now.place == Place::kAttentionRow) {
    now.place = Place::kAttention;
  } else if (now.place == Place::kTokenLists && now.reads_expected_rows()) {
    now.place = Place::kExpect;
  } else {
    now.place = Place::kKeys;
  }
  return true;
}

bool CaseReader::parse_error(std::size_t, const std::string&, const Json::exception& error) {
  // "[json.exception.parse_error.101] parse error at line 1, column 9: syntax error while ...": the library counts
  // lines from the beginning of the object, and quotes what it read last, however long.
  std::string what = error.what();
  const std::size_t syntax = what.find("syntax error");
  what.erase(0, syntax != std::string::npos ? syntax : std::min(what.size(), what.find("] ") + 2));
  constexpr std::size_t kMaxLength = 200;
  if (what.size() > kMaxLength) {
    what = what.substr(0, kMaxLength) + "...";
  }
  std::replace_if(what.begin(), what.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  const bool in_key = !open_.empty() && draft().key.has_value();
  return fail(cursor_.line, in_key ? name_of_key(*draft().key) : "", "not JSON: " + what);
}

bool CaseReader::finish_case() {
  if (auto error = complete(draft())) {
    return fail(error->line, error->key, std::move(error->what));
  }
  if (open_.size() == 1) {
    finished_ = std::move(draft().value);
    open_.pop_back();
    return true;
  }
  const std::size_t line = draft().line_of(Key::kNumSegments);
  OpenCase& whole = open_.front();
  whole.prior_elements += unlisted_elements({&draft().value, 1});
  if (whole.prior_elements > kMaxPriorElements) {
    return fail(line, name_of_key(Key::kNumSegments),
                "the prior calls would touch " + std::to_string(whole.prior_elements) +
                    " elements of buffers beyond the tokens that they list; together at most " +
                    std::to_string(kMaxPriorElements));
  }
  whole.value.prior_calls.push_back(std::move(draft().value));
  open_.pop_back();
  return true;
}

}  // namespace

std::expected<Case, CaseError> read_case(Cursor& cursor, std::string_view file) {
  KVWITNESS_ASSERT(cursor.next != cursor.end);
  CaseReader reader(cursor, file);
  // The library skips a byte order mark before every value, and a case needs no other beginning than this one.
  if (*cursor.next != '{') {
    const std::size_t line = cursor.line + (cursor.after_newline ? 1 : 0);
    return std::unexpected(
        CaseError{.file = std::string(file),
                  .line = line,
                  .key = "",
                  .what = "a case is a JSON object, and this is none: " +
                          excerpt(std::string_view(cursor.next, std::min(cursor.next + 20, cursor.end)))});
  }
  const bool strict = false;  // more cases may follow
  if (!Json::sax_parse(CursorIterator(&cursor), CursorIterator(nullptr), &reader, Json::input_format_t::json, strict)) {
    return std::unexpected(reader.take_error());
  }
  return reader.take_case();
}

}  // namespace kvwitness::harness
