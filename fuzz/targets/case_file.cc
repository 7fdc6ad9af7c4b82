#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/finding.h"
#include "fuzz/inputs/case_forms.h"
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
        "the reader and writer of case files and the byte form: what is read is written and read back equal, an error "
        "says where",
    .body = judge_input,
    .form = &kCaseTextForm,
    .test_runs = 6000,
    .finds =
        "writer_drops_in_place writer_drops_an_offset writer_drops_escapes reader_misses_the_least_token "
        "stride_of_32_bits last_call_before_dropped attention_in_float refusal_not_written budgets_swapped "
        "two_lines",
};
}  // namespace targets

}  // namespace kvwitness::fuzz
