// Writes a Case as one line of JSON, and for a person.
#include <kvwitness/case.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "properties/case/case_keys.h"
#include "properties/case/json_text.h"
#include "properties/case/status.h"

namespace kvwitness::harness {
namespace {

// An integer, or a double as the shortest text that reads back to the same value.
template <typename T>
void append_number(std::string& out, T value) {
  std::array<char, 32> digits;
  out.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr);
}

template <typename T>
void append_list(std::string& out, std::span<const T> values) {
  out += '[';
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) {
      out += ',';
    }
    append_number(out, values[i]);
  }
  out += ']';
}

// `count` lists of `width` entries.
void append_rows(std::string& out, std::span<const std::int32_t> values, std::size_t count, std::size_t width) {
  out += '[';
  for (std::size_t row = 0; row < count; ++row) {
    if (row > 0) {
      out += ',';
    }
    append_list(out, values.subspan(row * width, width));
  }
  out += ']';
}

// In the form of `learned`.
void append_learned_like(std::string& out, const Case& value, std::span<const std::int32_t> values) {
  if (value.written_form() == Form::kFlat) {
    append_list(out, values);
  } else if (value.topk > 0) {
    const auto topk = static_cast<std::size_t>(value.topk);
    append_rows(out, values, values.size() / topk, topk);
  } else {
    append_rows(out, values, value.topk == 0 ? value.context_lens.size() : 0, 0);
  }
}

void append_key(std::string& out, Key key) {
  out += out.ends_with('{') ? "\"" : ",\"";
  out += name_of_key(key);
  out += "\":";
}

void append_count(std::string& out, Key key, std::int64_t value) {
  append_key(out, key);
  append_number(out, value);
}

void append_expect(std::string& out, const Case& value) {
  append_key(out, Key::kExpect);
  if (const auto* refusal = std::get_if<std::int32_t>(&*value.expect)) {
    out += "{\"refused\":" + json_string(status_name(*refusal)) + '}';
    return;
  }
  const auto& rows = std::get<std::vector<std::int32_t>>(*value.expect);
  out += "{\"rows\":";
  if (value.operation == Operation::kWitnesses) {
    append_rows(out, rows, value.context_lens.size(),
                value.context_lens.empty() ? 0 : rows.size() / value.context_lens.size());
  } else {
    append_learned_like(out, value, rows);
  }
  out += '}';
}

void append_attention(std::string& out, const std::vector<std::vector<double>>& attention) {
  append_key(out, Key::kAttention);
  out += '[';
  for (std::size_t row = 0; row < attention.size(); ++row) {
    if (row > 0) {
      out += ',';
    }
    append_list(out, std::span(attention[row]));
  }
  out += ']';
}

void append_case(std::string& out, const Case& value);

void append_after(std::string& out, const std::vector<Case>& after) {
  append_key(out, Key::kAfter);
  out += '[';
  for (std::size_t i = 0; i < after.size(); ++i) {
    if (i > 0) {
      out += ',';
    }
    append_case(out, after[i]);
  }
  out += ']';
}

void append_call(std::string& out, const Case& value) {
  append_count(out, Key::kVersion, 1);
  append_key(out, Key::kOperation);
  out += json_string(name_of(value.operation));
  append_count(out, Key::kTopk, value.topk);
  append_count(out, Key::kNumSegments, value.num_segments);
  if (value.operation == Operation::kApply) {
    append_count(out, Key::kLearnedKeep, value.learned_keep);
    append_count(out, Key::kMaxReplacements, value.max_replacements);
  }
  append_key(out, Key::kContextLens);
  append_list(out, std::span(value.context_lens));
  append_key(out, Key::kLearned);
  append_learned_like(out, value, value.learned);
}

void append_manner(std::string& out, const Case& value) {
  if (value.row_stride) {
    append_count(out, Key::kRowStride, *value.row_stride);
  }
  if (value.in_place) {
    append_key(out, Key::kInPlace);
    out += "true";
  }
  if (value.base_offset != 0) {
    append_count(out, Key::kBaseOffset, value.base_offset);
  }
  if (!value.prior_calls.empty()) {
    append_after(out, value.prior_calls);
  }
}

void append_case(std::string& out, const Case& value) {
  out += '{';
  append_call(out, value);
  if (value.expect) {
    append_expect(out, value);
  }
  if (!value.note.empty()) {
    append_key(out, Key::kNote);
    out += json_string(value.note);
  }
  if (value.attention) {
    append_attention(out, *value.attention);
  }
  append_manner(out, value);
  out += '}';
}

}  // namespace

std::string to_json(const Case& value) {
  std::string out;
  append_case(out, value);
  return out;
}

std::ostream& operator<<(std::ostream& out, const Case& value) {
  return out << to_json(value);
}

}  // namespace kvwitness::harness
