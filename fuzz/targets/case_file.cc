#include <algorithm>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "fuzz/finding.h"
#include "fuzz/inputs/case_forms.h"
#include "fuzz/inputs/json_numbers.h"
#include "fuzz/mutators/number_mutator.h"
#include "fuzz/target.h"
#include "fuzz/under_test.h"

namespace kvwitness::fuzz {
namespace {

using harness::Case;

[[noreturn]] void broken(std::string_view invariant, std::string_view subject, std::string what) {
  report_finding({"case_file", invariant, subject, std::move(what)});
}

// A case that was read, or decoded, is written and read back to an equal one.
void judge_text_form(const Case& value) {
  const CaseForms& forms = case_forms();
  const std::string text = forms.write(value);
  if (text.find('\n') != std::string::npos) {
    broken("one_line", "to_json", "a case takes more than one line: " + text);
  }
  const auto again = forms.parse(text, "written");
  if (!again) {
    broken("written_text_is_read", "parse_cases", again.error().message() + ": " + text);
  }
  if (again->size() != 1 || again->front() != value) {
    broken("text_round_trip", "to_json", "the case changed on its way through text: " + text);
  }
  if (const std::string second = forms.write(again->front()); second != text) {
    broken("one_text", "to_json", "one case has two texts: " + text + " and " + second);
  }
}

void judge_byte_form(const Case& value) {
  const CaseForms& forms = case_forms();
  const std::vector<std::uint8_t> bytes = forms.encode(value);
  const Case again = forms.decode(bytes);
  if (again != call_only(value)) {  // what the byte form keeps of a case
    broken("byte_round_trip", "encode", "the call changed on its way through bytes: " + harness::to_json(value));
  }
  if (forms.encode(again) != bytes) {
    broken("one_byte_form", "encode", "one call has two byte forms: " + harness::to_json(value));
  }
}

// ---- Each number of the text against what was read of it

using Wide = __int128;

// The integer that the text says; nothing where it is none of at most 30 digits.
std::optional<Wide> integer_of(std::string_view text) {
  constexpr std::size_t kMostDigits = 30;
  const bool negative = text.starts_with('-');
  text.remove_prefix(negative ? 1 : 0);
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (text.empty() || text.size() > kMostDigits || !std::ranges::all_of(text, is_digit)) {
    return std::nullopt;
  }
  Wide value = 0;
  for (const char digit : text) {
    value = value * 10 + (digit - '0');
  }
  return negative ? -value : value;
}

// What one key of a case holds, by the text and by the reader.
class KeyJudge {
 public:
  KeyJudge(const JsonNumbers& text, std::size_t case_index, std::string_view key) : key_(key) {
    for (const JsonNumber& number : text.numbers) {
      if (number.case_index == case_index && number.key == key) {
        written_.push_back(number.text);
      }
    }
  }

  // A number of the case itself, which need not be written where it is `otherwise`.
  void holds_one(Wide read, Wide otherwise) const {
    if (!written_.empty() || read != otherwise) {
      holds({read});
    }
  }
  template <typename Numbers>
  void holds_all(const Numbers& read) const {
    holds({read.begin(), read.end()});
  }
  void holds_reals(const std::vector<std::vector<double>>& read) const {
    std::vector<double> all;
    for (const std::vector<double>& row : read) {
      all.insert(all.end(), row.begin(), row.end());
    }
    const auto equal = [](std::string_view text, double value) {
      return std::strtod(std::string(text).c_str(), nullptr) == value;
    };
    expect(std::ranges::equal(written_, all, equal));
  }

 private:
  void holds(const std::vector<Wide>& read) const {
    expect(std::ranges::equal(written_, read,
                              [](std::string_view text, Wide value) { return integer_of(text) == value; }));
  }
  void expect(bool is_same) const {
    if (!is_same) {
      broken("numbers_are_the_texts", "parse_cases",
             "what was read of " + std::string(key_) + " is not what is written");
    }
  }

  std::string_view key_;
  std::vector<std::string_view> written_;
};

// The case and its prior calls, in the order in which their objects open.
void judge_numbers(const JsonNumbers& text, const Case& value, std::size_t& case_index) {
  const std::size_t own = case_index++;
  const auto key = [&](std::string_view name) { return KeyJudge(text, own, name); };
  key("kvwitness_case").holds_one(1, 0);
  key("topk").holds_one(value.topk, 0);
  key("num_segments").holds_one(value.num_segments, 0);
  key("learned_keep").holds_one(value.learned_keep, 0);
  key("max_replacements").holds_one(value.max_replacements, 0);
  key("base_offset").holds_one(value.base_offset, 0);
  key("row_stride").holds_all(value.row_stride ? std::vector{*value.row_stride} : std::vector<std::int64_t>());
  key("context_lens").holds_all(value.context_lens);
  key("learned").holds_all(value.learned);
  const auto* const expected = value.expect ? std::get_if<std::vector<std::int32_t>>(&*value.expect) : nullptr;
  key("expect").holds_all(expected != nullptr ? *expected : std::vector<std::int32_t>());
  key("attention").holds_reals(value.attention.value_or(std::vector<std::vector<double>>()));
  for (const Case& prior : value.prior_calls) {
    judge_numbers(text, prior, case_index);
  }
}

// The text, read: cases or an error that says where.
void judge_text(std::string_view text) {
  constexpr std::string_view kFile = "input.jsonl";
  const auto cases = case_forms().parse(text, kFile);
  if (!cases) {
    const harness::CaseError& error = cases.error();
    const auto lines = static_cast<std::size_t>(std::ranges::count(text, '\n')) + 1;
    if (error.file != kFile || error.what.empty() || error.line > lines || !error.message().starts_with(kFile)) {
      broken("error_says_where", "parse_cases", error.message());
    }
    return;
  }
  if (cases->empty()) {
    broken("some_case", "parse_cases", "a text was read, and it held no case");
  }
  if (const JsonNumbers numbers = json_numbers(text); !numbers.has_escaped_key) {
    std::size_t case_index = 0;
    for (const Case& value : *cases) {
      judge_numbers(numbers, value, case_index);
    }
  }
  std::string rewritten;
  for (const Case& value : *cases) {
    judge_text_form(value);
    judge_byte_form(value);
    rewritten += case_forms().write(value) + "\n";
  }
  const auto again = case_forms().parse(rewritten, "rewritten");
  if (!again || *again != *cases) {
    broken("text_round_trip", "to_json", "several cases changed on their way through one text");
  }
}

int judge_input(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::uint8_t> bytes(data, size);
  judge_text({reinterpret_cast<const char*>(data), size});
  // Text read as bytes is a large case of no interest, and slow to write; bytes of a case are short and start with
  // their version.
  constexpr std::size_t kMostBytes = 512;
  if (size > 0 && size <= kMostBytes && data[0] < ' ') {
    const harness::Case decoded = case_forms().decode(bytes);
    judge_byte_form(decoded);
    judge_text_form(decoded);
  }
  return 0;
}

}  // namespace

namespace targets {
extern const Target case_file = {
    .name = "case_file",
    .judges =
        "the reader and writer of case files and the byte form: each number read is the text's, what is read is "
        "written "
        "and read back equal, an error says where",
    .body = judge_input,
    .form = &kCaseTextForm,
    .mutator = &kNumberMutator,
    .test_runs = 6000,
    .finds =
        "writer_drops_in_place writer_drops_an_offset writer_drops_escapes reader_misses_the_least_token "
        "stride_of_32_bits last_call_before_dropped attention_in_float refusal_not_written budgets_swapped "
        "two_lines reader_wraps_a_token reader_wraps_an_expected_token reader_wraps_a_length reader_wraps_topk "
        "reader_wraps_segments reader_wraps_keep reader_wraps_replacements reader_wraps_a_stride "
        "reader_wraps_an_offset reader_wraps_the_version reader_wraps_at_2_to_64 reader_clamps_a_token "
        "reader_drops_a_fraction reader_attention_in_float",
};
}  // namespace targets

}  // namespace kvwitness::fuzz
