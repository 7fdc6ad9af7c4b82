// The golden null rows: corpus/golden/nulls.jsonl, one {"context_len", "budget", "seed", "random", "locality"} a line.
#ifndef TESTS_LIB_NULL_ROWS_H
#define TESTS_LIB_NULL_ROWS_H

#include <charconv>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace kvwitness {

struct NullRow {
  std::int32_t context_len;
  std::size_t budget;
  std::uint64_t seed;
  std::vector<std::int32_t> random;
  std::vector<std::int32_t> locality;
};

class NullRowLine {
 public:
  explicit NullRowLine(std::string_view line) : line_(line) {}

  template <typename Number>
  Number number(std::string_view key) const {
    Number value{};
    read(after(key), value);
    return value;
  }

  std::vector<std::int32_t> list(std::string_view key) const {
    std::vector<std::int32_t> values;
    const char* at = after(key) + 1;  // past the bracket
    while (*at != ']') {
      at = read(at, values.emplace_back());
      at += std::strspn(at, ", ");
    }
    return values;
  }

 private:
  const char* after(std::string_view key) const {
    std::string quoted = "\"";
    quoted.append(key).append("\":");
    const std::size_t at = line_.find(quoted);
    if (at == std::string_view::npos) {
      throw std::runtime_error("no " + quoted + " in " + std::string(line_));
    }
    return line_.data() + at + quoted.size();
  }

  template <typename Number>
  const char* read(const char* at, Number& value) const {
    const auto [end, error] = std::from_chars(at, line_.data() + line_.size(), value);
    if (error != std::errc{}) {
      throw std::runtime_error("no number in " + std::string(line_));
    }
    return end;
  }

  std::string_view line_;
};

inline std::vector<NullRow> golden_null_rows() {
  std::ifstream file(KVWITNESS_CORPUS_DIR "/golden/nulls.jsonl");
  std::vector<NullRow> rows;
  for (std::string line; std::getline(file, line);) {
    const NullRowLine fields(line);
    rows.push_back({fields.number<std::int32_t>("context_len"), fields.number<std::size_t>("budget"),
                    fields.number<std::uint64_t>("seed"), fields.list("random"), fields.list("locality")});
  }
  return rows;
}

}  // namespace kvwitness

#endif  // TESTS_LIB_NULL_ROWS_H
