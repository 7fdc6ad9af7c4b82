// A Case: one call of one operation with every value it needs, and how the call is made.
//
// A case holds values, never a seed, so it outlives every change of the generators. It is what files hold (SPEC: case files), what fuzz
// bytes decode to, what generators draw, what a counterexample is, and what crosses the pipe to a worker process.
#ifndef PROPERTIES_CASE_H
#define PROPERTIES_CASE_H

#include <cstddef>
#include <cstdint>
#include <expected>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace kvwitness::harness {

enum class Operation : std::uint8_t { kWitnesses, kApply, kScatter };

// "witnesses", "apply", "scatter".
std::string_view name_of(Operation operation) noexcept;

// How a case file writes `learned`: one list a row, or one list of any length. Flat is what only a malformed call needs.
enum class Form : std::uint8_t { kNested, kFlat };

// What a case file expects: the rows of the result, packed ([rows, num_segments] for witnesses, else as long as `learned`), or a refusal
// by its kvw_status number.
using Expectation = std::variant<std::vector<std::int32_t>, std::int32_t>;

struct Case {
  Operation operation = Operation::kScatter;
  std::int64_t topk = 0;
  std::int64_t num_segments = 0;
  std::int64_t learned_keep = 0;      // apply alone; 0 elsewhere
  std::int64_t max_replacements = 0;  // apply alone; 0 elsewhere
  std::vector<std::int32_t> context_lens;  // [rows]
  std::vector<std::int32_t> learned;       // packed, row-major: [rows, topk] unless the case is a malformed call
  Form form = Form::kNested;

  // How the call is made.
  std::optional<std::int64_t> row_stride;  // elements from row to row; packed where absent
  bool in_place = false;                   // apply alone: the output is the input
  std::int32_t base_offset = 0;            // elements, 0 to 15, from a 64-byte boundary to the first row of each token buffer
  std::vector<Case> after;                 // calls that the same process makes first, in order; they have no `after`

  std::optional<Expectation> expect;
  std::string note;
  std::optional<std::vector<std::vector<double>>> attention;  // `score` alone: one list of max(L_r, 0) values a row

  std::int64_t rows() const noexcept { return static_cast<std::int64_t>(context_lens.size()); }

  friend bool operator==(const Case&, const Case&) = default;
};

// One line of JSON in the order of SPEC section 8; parse_cases reads it back to an equal case.
std::string to_json(const Case& value);
std::ostream& operator<<(std::ostream& out, const Case& value);

// Where and why a case file is wrong: "FILE:LINE: KEY: what is wrong, and the limit".
struct CaseError {
  std::string file;
  std::size_t line = 0;  // 1-based; 0 where the file as a whole is meant
  std::string key;       // "" where no key is meant
  std::string what;
  std::string message() const;
};

// All cases of a text, strictly by SPEC section 8. `file` names the source in errors. Time and memory are linear in the text.
std::expected<std::vector<Case>, CaseError> parse_cases(std::string_view text, std::string_view file);
// The same for a file on disk; "-" is standard input.
std::expected<std::vector<Case>, CaseError> read_cases(const std::string& path);

// The versioned byte form. decode is total: any bytes give a Case (perhaps one that a call must refuse), in time and memory linear in
// the number of bytes. decode(encode(c)) equals c without its note, expect and attention, which are no part of a call.
std::vector<std::uint8_t> encode(const Case& value);
Case decode(std::span<const std::uint8_t> bytes);

// Limits of a case whose call is legal, in elements of one buffer: what it may touch, and what it may span with its strides.
inline constexpr std::int64_t kMaxTouchedElements = std::int64_t{1} << 28;
inline constexpr std::int64_t kMaxSpannedElements = std::int64_t{1} << 36;

}  // namespace kvwitness::harness

#endif  // PROPERTIES_CASE_H
