// A Case: one call of one operation with every value it needs, and how the call is made.
//
// A case holds values, never a seed, so it outlives every change of the generators. It is what files hold, what fuzz
// bytes decode to, what generators draw, what a counterexample is, and what crosses the pipe to a worker process.
//
// A case file is JSON objects separated by white space; one object is one case:
//
//     {"kvwitness_case": 1, "operation": "apply", "topk": 4, "num_segments": 4,
//      "learned_keep": 2, "max_replacements": 2,
//      "context_lens": [16], "learned": [[0, 5, 9, -1]],
//      "expect": {"rows": [[0, 5, 12, -1]]}, "note": "free text"}
//
// Counts are 64-bit integers, tokens and lengths are 32-bit integers. Every case has the keys
//
// - `kvwitness_case`: 1, the version of the format.
// - `operation`: "witnesses", "apply" or "scatter".
// - `topk`: slots in a row.
// - `num_segments`: S.
// - `context_lens`: one length a row.
// - `learned`: one list of topk tokens a row, or one flat list of any length. Zero rows: []. topk 0: one []
//   a row, or []. Another number of rows than context_lens has is a rows mismatch.
//
// and an apply, only that, also has
//
// - `learned_keep`: the first slots of each row, which stay.
// - `max_replacements`: how many slots of a row may be overwritten.
//
// These keys may be absent:
//
// - `expect`: {"rows": ...}, num_segments entries a row for witnesses, else in the form of learned; or
//   {"refused": NAME} with a name of properties/case/status.h.
// - `note`: free text.
// - `attention`: one list of max(L, 0) finite non-negative numbers a row; only `kvwitness score` reads it.
// - `row_stride`: elements from row to row, for any operation; an implementation without strides gets packed
//   rows.
// - `in_place`: only true, and only for apply: the output is the input.
// - `base_offset`: elements, 0 to 15, from a 64-byte boundary to the first row of each token buffer.
// - `after`: the prior calls, which the same process makes first, in order; none has an `after`.
#ifndef KVWITNESS_CASE_H
#define KVWITNESS_CASE_H

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

// How a case file writes `learned`: one list a row, or one flat list, which a call with a wrong number of elements may
// need.
enum class Form : std::uint8_t { kNested, kFlat };

// What a case file expects: the rows of the result, packed ([rows, num_segments] for witnesses, else as long as
// `learned`), or a refusal by its status number.
using Expectation = std::variant<std::vector<std::int32_t>, std::int32_t>;

struct Case {
  Operation operation = Operation::kScatter;
  std::int64_t topk = 0;
  std::int64_t num_segments = 0;
  std::int64_t learned_keep = 0;           // only for apply; 0 elsewhere
  std::int64_t max_replacements = 0;       // only for apply; 0 elsewhere
  std::vector<std::int32_t> context_lens;  // [rows]
  std::vector<std::int32_t> learned;       // packed, row-major: [rows, topk] unless the case is a malformed call
  Form form = Form::kNested;               // as asked for; see written_form

  // How the call is made.
  std::optional<std::int64_t> row_stride;  // elements from row to row; packed where absent
  bool in_place = false;                   // only for apply: the output is the input
  std::int32_t base_offset = 0;            // elements, 0 to 15, from a 64-byte boundary to the first row of each buffer
  std::vector<Case> prior_calls;           // `after`: made first by the same process, in order; none has prior calls

  std::optional<Expectation> expect;
  std::string note;
  std::optional<std::vector<std::vector<double>>> attention;  // only for `score`: one list of max(L, 0) values a row

  std::int64_t rows() const noexcept { return static_cast<std::int64_t>(context_lens.size()); }

  // The form in which `learned` can be written: flat where its length is no multiple of topk, nested where both forms
  // are the same [].
  Form written_form() const noexcept;

  // Equal where the calls and their annotations are: forms are compared as written.
  friend bool operator==(const Case& a, const Case& b);
};

// The call and how it is made, without note, expectation and attention, of the case and of its prior calls.
Case call_only(Case value);

// One line of JSON, the keys in the order of the list above; parse_cases reads it back to an equal case. Bytes of the
// note that are no UTF-8 are replaced.
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

// All cases of a text; at least one. Refused, with file, line and key: an unknown, missing or repeated key, one that
// belongs to another operation, a value that is not an integer in range, a list of the wrong width, invalid JSON or
// UTF-8, a text without a case, and a legal call beyond the limits below. Time and memory are linear in the text.
//
// @param text  the file's text; a byte order mark may stand at the beginning
// @param file  the name of the source, for errors
std::expected<std::vector<Case>, CaseError> parse_cases(std::string_view text, std::string_view file);
// The same for a file on disk; "-" is standard input.
std::expected<std::vector<Case>, CaseError> read_cases(const std::string& path);

// The versioned byte form. decode is total: any bytes give a Case (perhaps one that a call must refuse), in time and
// memory linear in the number of bytes, and in what a legal call then touches. decode(encode(c)) equals call_only(c)
// for every c within the limits below.
std::vector<std::uint8_t> encode(const Case& value);
Case decode(std::span<const std::uint8_t> bytes);

// Limits of a case whose call is legal, in elements of one buffer: what it may touch, and what it may span with its
// strides. A call that must be refused, and a scatter with num_segments 0, touches nothing and is exempt.
inline constexpr std::int64_t kMaxTouchedElements = std::int64_t{1} << 28;
inline constexpr std::int64_t kMaxSpannedElements = std::int64_t{1} << 36;
// And what its prior calls together may touch beyond the tokens that they list: their results are kept until the case is
// judged.
inline constexpr std::int64_t kMaxPriorElements = std::int64_t{1} << 26;

// What the case's call takes, in elements; 0 for a call that touches nothing. Legal with its row stride or without it
// counts, because an implementation without strides makes the packed call.
struct Extent {
  std::int64_t touched = 0;  // of the largest buffer: rows * topk, or rows * num_segments for witnesses
  std::int64_t spanned = 0;  // of the strided buffer: (rows - 1) * row_stride + topk
};
Extent extent_of(const Case& value);

// What the calls together touch beyond the tokens that they list, in elements. A sum of extents that each keep to the
// limits, so that it does not overflow.
std::int64_t unlisted_elements(std::span<const Case> calls);

// Why the case's own call cannot be made: a legal call beyond these limits. Nothing where it can.
//
// @param honours_stride  whether the row stride is passed on
std::optional<std::string> beyond_limits(const Case& value, bool honours_stride);

// Whether the case and its prior calls keep to these limits, and so whether the byte form carries it.
bool is_within_limits(const Case& value);

}  // namespace kvwitness::harness

#endif  // KVWITNESS_CASE_H
