#include "lib/bench/workload.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <random>
#include <stdexcept>
#include <string_view>

#include "kvwitness/segments.h"

namespace kvwitness::bench {
namespace {

bool allows(Pattern pattern, std::uint64_t segment, std::uint64_t num_segments, std::uint64_t missing) {
  switch (pattern) {
    case Pattern::kOneSegment:
      return segment == num_segments / 2;
    case Pattern::kOneMissing:
      return segment != missing;
    case Pattern::kAlternate:
      return segment % 2 == 0;
    default:
      return true;
  }
}

void fill_row(const Shape& shape, std::mt19937& random, std::int32_t* row) {
  const auto len = static_cast<std::uint64_t>(shape.context_len);
  const std::uint64_t missing = random() % shape.num_segments;
  std::uniform_int_distribution<std::int32_t> anywhere(0, shape.context_len - 1);
  for (std::size_t slot = 0; slot < shape.topk; ++slot) {
    std::int32_t token = anywhere(random);
    while (!allows(shape.pattern, segment_of(static_cast<std::uint64_t>(token), len, shape.num_segments),
                   shape.num_segments, missing)) {
      token = anywhere(random);
    }
    row[slot] = token;
  }
}

// The integers between the bracket at `position` and the one that closes it, nested lists one by one.
std::vector<std::vector<std::int32_t>> read_lists(std::string_view text, std::size_t position) {
  std::vector<std::vector<std::int32_t>> lists(1);
  int depth = 0;
  while (position < text.size()) {
    const char character = text[position];
    if (character == '-' || std::isdigit(static_cast<unsigned char>(character)) != 0) {
      char* end = nullptr;
      lists.back().push_back(static_cast<std::int32_t>(std::strtol(text.data() + position, &end, 10)));
      position = static_cast<std::size_t>(end - text.data());
      continue;
    }
    depth += character == '[' ? 1 : character == ']' ? -1 : 0;
    if (character == '[' && depth == 2 && !lists.back().empty()) {
      lists.emplace_back();
    }
    if (depth == 0) {
      break;
    }
    ++position;
  }
  return lists;
}

std::vector<std::vector<std::int32_t>> lists_of(const std::string& line, std::string_view key) {
  const std::size_t found = line.find(key);
  if (found == std::string::npos) {
    return {};
  }
  return read_lists(line, line.find('[', found));
}

}  // namespace

const char* name_of(Pattern pattern) {
  switch (pattern) {
    case Pattern::kOneSegment:
      return "one_segment";
    case Pattern::kOneMissing:
      return "one_missing";
    case Pattern::kAlternate:
      return "alternate";
    case Pattern::kSpread:
      return "spread";
    case Pattern::kReal:
      return "real";
  }
  return "";
}

Workload::Workload(const Shape& shape, const RealRows& real, std::size_t first_real_row)
    : shape_(shape), buffer_(shape.rows * shape.topk, shape.misaligned_elements) {
  std::mt19937 random(1);
  const std::size_t tail = std::min(shape.topk, shape.num_segments);
  for (std::size_t row = 0; row < shape.rows; ++row) {
    std::int32_t* const slots = rows() + row * shape.topk;
    if (shape.pattern == Pattern::kReal) {
      const std::size_t source = (first_real_row + row) % real.rows.size();
      std::copy_n(real.rows[source].begin(), shape.topk, slots);
      context_lens_.push_back(real.context_lens[source]);
    } else {
      fill_row(shape, random, slots);
      context_lens_.push_back(shape.context_len);
    }
    tails_.insert(tails_.end(), slots + shape.topk - tail, slots + shape.topk);
  }
}

void Workload::restore() {
  const std::size_t tail = std::min(shape_.topk, shape_.num_segments);
  for (std::size_t row = 0; row < shape_.rows; ++row) {
    std::copy_n(tails_.data() + row * tail, tail, rows() + (row + 1) * shape_.topk - tail);
  }
}

Workload::RealRows read_real_rows(const std::string& path, std::size_t topk) {
  std::ifstream file(path);
  Workload::RealRows real;
  for (std::string line; std::getline(file, line);) {
    const auto learned = lists_of(line, "\"learned\"");
    const auto lens = lists_of(line, "\"context_lens\"");
    for (std::size_t row = 0; row < learned.size(); ++row) {
      if (learned[row].size() == topk && lens.at(0).at(row) > static_cast<std::int32_t>(topk)) {
        real.rows.push_back(learned[row]);
        real.context_lens.push_back(lens[0][row]);
      }
    }
  }
  if (real.rows.empty()) {
    throw std::runtime_error(path + ": no row of " + std::to_string(topk) + " slots with a longer context");
  }
  return real;
}

}  // namespace kvwitness::bench
