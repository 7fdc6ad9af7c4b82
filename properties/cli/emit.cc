#include "properties/cli/emit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <kvwitness/kvwitness.h>
#include <kvwitness/legality.h>
#include <kvwitness/oracle.h>

#include <array>
#include <string>
#include <vector>

#include "properties/cli/arguments.h"
#include "properties/report/report.h"

namespace kvwitness::harness::cli {
namespace {

// Of the C ABI only scatter takes a stride, and only for rows that fill their shape.
bool is_strided(const Case& value) {
  return value.operation == Operation::kScatter && value.row_stride && value.topk >= 0 &&
         static_cast<std::int64_t>(value.learned.size()) == value.rows() * value.topk;
}
// The call's status through the C ABI.
std::int32_t status_of(const Case& value) {
  return expected_status(value, is_strided(value));
}

std::string emit_json(std::span<const PinnedCase> cases) {
  std::string text;
  for (const PinnedCase& pinned : cases) {
    Case value = pinned.value;
    if (status_of(value) == KVW_OK) {
      value.expect = expected_rows(value);
    } else {
      value.expect = status_of(value);
    }
    text += to_json(value) + "\n";
  }
  return text;
}

constexpr std::string_view kPreamble =
    R"(// Build: c++ -std=c++17 FILE.cc $(pkg-config --cflags --libs kvwitness) -lgtest -lgtest_main -pthread
#include <gtest/gtest.h>
#include <kvwitness/kvwitness.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

namespace {

using Tokens = std::vector<std::int32_t>;

constexpr std::int32_t kUnwritten = -1515870811;  // what outputs and spare columns hold before a call

// Rows of `width` tokens that start `stride` elements apart, the first one `base_offset` elements past a 64-byte
// boundary.
class Rows {
 public:
  Rows(const Tokens& packed, std::size_t width, std::size_t stride, std::size_t base_offset)
      : count_(width == 0 ? 0 : packed.size() / width), width_(width), stride_(stride),
        bytes_((base_offset + (count_ == 0 ? 0 : (count_ - 1) * stride + width) + 16) * sizeof(std::int32_t)) {
    memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
    first_ = static_cast<std::int32_t*>(memory_) + base_offset;
    for (std::size_t row = 0; row < count_; ++row) {
      std::copy_n(packed.data() + row * width_, width_, first_ + row * stride_);
      std::fill_n(spare(row), spare_count(row), kUnwritten);
    }
  }
  ~Rows() { munmap(memory_, bytes_); }
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;

  std::int32_t* data() { return first_; }
  Tokens packed() const {
    Tokens tokens;
    for (std::size_t row = 0; row < count_; ++row) tokens.insert(tokens.end(), first_ + row * stride_, first_ + row * stride_ + width_);
    return tokens;
  }
  bool spare_columns_kept() const {
    for (std::size_t row = 0; row < count_; ++row) {
      if (std::count(spare(row), spare(row) + spare_count(row), kUnwritten) != static_cast<std::ptrdiff_t>(spare_count(row))) return false;
    }
    return true;
  }

 private:
  std::int32_t* spare(std::size_t row) const { return first_ + row * stride_ + width_; }
  std::size_t spare_count(std::size_t row) const { return row + 1 < count_ && stride_ > width_ ? std::min<std::size_t>(stride_ - width_, 64) : 0; }

  std::size_t count_, width_, stride_, bytes_;
  void* memory_;
  std::int32_t* first_;
};
)";

std::string list_of(std::span<const std::int32_t> tokens) {
  std::string text = "{";
  std::size_t line = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    std::string token = fmt::format("{}{}", tokens[i] == INT32_MIN ? "INT32_MIN" : std::to_string(tokens[i]),
                                    i + 1 < tokens.size() ? ", " : "");
    if (line + token.size() > 100) {
      text += "\n        ";
      line = 0;
    }
    line += token.size();
    text += token;
  }
  return text + "}";
}

std::string_view status_word(std::int32_t status) {
  constexpr std::array<std::string_view, 14> kWords = {"KVW_OK",
                                                       "KVW_ROWS_MISMATCH",
                                                       "KVW_SEGMENTS_OUT_OF_RANGE",
                                                       "KVW_LEARNED_KEEP_OUT_OF_RANGE",
                                                       "KVW_NEGATIVE_COUNT",
                                                       "KVW_NULL_POINTER",
                                                       "KVW_ROW_STRIDE",
                                                       "KVW_BUFFER_OVERLAP",
                                                       "KVW_BUFFER_TOO_SMALL",
                                                       "KVW_CONTEXT_LEN_OUT_OF_RANGE",
                                                       "KVW_UNKNOWN_BACKEND",
                                                       "KVW_ENVIRONMENT",
                                                       "KVW_CUDA",
                                                       "KVW_OUT_OF_MEMORY"};
  return kWords.at(static_cast<std::size_t>(status));
}

// A 64-bit integer as C++ source.
std::string count_of(std::int64_t value) {
  return value == INT64_MIN ? "INT64_MIN" : std::to_string(value);
}

// `name` with `size` elements that hold nothing yet.
std::string output(std::string_view name, std::size_t size, std::int32_t base_offset) {
  return fmt::format("    const Tokens {0}_before({1}, kUnwritten);\n    Rows {0}({0}_before, {1}, {1}, {2});\n", name,
                     size, base_offset);
}

std::string assertions(std::int32_t status, std::string_view call, std::string_view buffer,
                       const std::string& expected) {
  return fmt::format("    ASSERT_EQ({}, {}) << kvw_last_error();\n    EXPECT_EQ({}.packed(), {});\n", call,
                     status_word(status), buffer, expected);
}

std::string witnesses_call(const Case& value, std::int32_t status) {
  const std::vector<std::int32_t> expected = status == KVW_OK ? expected_rows(value) : std::vector<std::int32_t>{};
  const std::size_t size = status == KVW_OK ? expected.size() : 16;
  const std::string call =
      fmt::format("kvw_witness_indices(learned.data(), {}, {}, context_lens.data(), {}, {}, witnesses.data())",
                  value.learned.size(), count_of(value.topk), value.rows(), count_of(value.num_segments));
  return output("witnesses", size, value.base_offset) +
         assertions(status, call, "witnesses",
                    status == KVW_OK ? fmt::format("(Tokens{})", list_of(expected)) : "witnesses_before");
}

std::string apply_call(const Case& value, std::int32_t status) {
  const std::string_view buffer = value.in_place ? "learned" : "out";
  const std::string call =
      fmt::format("kvw_apply(learned.data(), {}, {}, context_lens.data(), {}, {}, {}, {}, {}.data())",
                  value.learned.size(), count_of(value.topk), value.rows(), count_of(value.learned_keep),
                  count_of(value.num_segments), count_of(value.max_replacements), buffer);
  const std::string expected =
      status == KVW_OK ? fmt::format("(Tokens{})", list_of(expected_rows(value))) : fmt::format("{}_before", buffer);
  return (value.in_place ? "" : output("out", value.learned.size(), value.base_offset)) +
         assertions(status, call, buffer, expected);
}

std::string scatter_call(const Case& value, std::int32_t status) {
  const std::string call =
      is_strided(value)
          ? fmt::format("kvw_scatter_strided(learned.data(), {}, {}, context_lens.data(), {}, {})",
                        count_of(*value.row_stride), count_of(value.topk), value.rows(), count_of(value.num_segments))
          : fmt::format("kvw_scatter(learned.data(), {}, {}, context_lens.data(), {}, {})", value.learned.size(),
                        count_of(value.topk), value.rows(), count_of(value.num_segments));
  const std::string expected = status == KVW_OK && value.num_segments != 0
                                   ? fmt::format("(Tokens{})", list_of(expected_rows(value)))
                                   : "learned_before";
  return assertions(status, call, "learned", expected) + "    EXPECT_TRUE(learned.spare_columns_kept());\n";
}

// One call in a block of its own.
std::string block(const Case& value) {
  const std::int32_t status = status_of(value);
  // A refused call is laid out packed: its stride may be impossible.
  const bool strided = is_strided(value) && status == KVW_OK && value.rows() > 1 && *value.row_stride >= value.topk;
  const std::int64_t width = strided ? value.topk : static_cast<std::int64_t>(value.learned.size());
  std::string text =
      fmt::format("  {{\n    const Tokens learned_before{};\n    Rows learned(learned_before, {}, {}, {});\n",
                  list_of(value.learned), width, strided ? *value.row_stride : width, value.base_offset);
  text += fmt::format("    const Tokens lens{};\n    Rows context_lens(lens, lens.size(), lens.size(), 0);\n",
                      list_of(value.context_lens));
  if (value.operation == Operation::kWitnesses) text += witnesses_call(value, status);
  if (value.operation == Operation::kApply) text += apply_call(value, status);
  if (value.operation == Operation::kScatter) text += scatter_call(value, status);
  return text + "  }\n";
}

std::string emit_gtest(std::span<const PinnedCase> cases) {
  std::string text = fmt::format(
      "// Made by `kvwitness replay --emit gtest`: {} case{} with the answer{} that the rule gives, asserted through "
      "the C ABI.\n",
      cases.size(), cases.size() == 1 ? "" : "s", cases.size() == 1 ? "" : "s");
  text += kPreamble;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Case& value = cases[i].value;
    text += fmt::format("\n// \"{}\"{}\n", printable(cases[i].source),
                        value.note.empty() ? "" : fmt::format(": \"{}\"", printable(value.note)));
    text += fmt::format("TEST(KvwitnessCase, Case{}) {{\n", i + 1);
    for (const Case& prior : value.prior_calls) text += block(prior);
    text += block(value) + "}\n";
  }
  return text + "\n}  // namespace\n";
}

}  // namespace

std::string emit(std::string_view form, std::span<const PinnedCase> cases) {
  if (form == "json") return emit_json(cases);
  if (form == "gtest") return emit_gtest(cases);
  throw UsageError(fmt::format("--emit is '{}'; it is gtest or json, and with --plugin gtest, c or pytest", form));
}

}  // namespace kvwitness::harness::cli
