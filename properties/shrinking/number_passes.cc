// A plainer call, smaller counts, shorter contexts, plainer tokens.
#include <kvwitness/oracle.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

#include "properties/shrinking/order.h"
#include "properties/shrinking/passes.h"
#include "properties/shrinking/steps.h"

namespace kvwitness::harness::shrinking {
namespace {

void change_length(Case& edited, std::size_t row, std::int32_t len, bool move_tokens) {
  const std::int32_t old = std::exchange(edited.context_lens[row], len);
  if (!move_tokens || !packed_rows(edited)) {
    return;
  }
  const auto topk = static_cast<std::size_t>(edited.topk);
  for (auto& token : std::span(edited.learned).subspan(row * topk, topk)) {
    token = moved_token(token, old, edited.num_segments, len, edited.num_segments);
  }
}

// Positions of the tokens that are not plain padding yet.
std::vector<std::size_t> telling_slots(const Case& value) {
  std::vector<std::size_t> list;
  for (std::size_t i = 0; i < value.learned.size(); ++i) {
    if (value.learned[i] != -1) {
      list.push_back(i);
    }
  }
  return list;
}

std::int32_t own_edge(const Case& value, std::size_t index) {
  const std::int32_t token = value.learned[index];
  if (!packed_rows(value)) {
    return token;
  }
  const std::int64_t len = value.context_lens[index / static_cast<std::size_t>(value.topk)];
  if (token < 0 || token >= len || value.num_segments < 1) {
    return token;
  }
  const std::int64_t segment = oracle_segment(token, len, value.num_segments);
  return static_cast<std::int32_t>(oracle_edge(segment, len, value.num_segments));
}

}  // namespace

Edits plainer_call(const Case& value) {
  Edits edits;
  if (value.operation != Operation::kWitnesses) {  // the same rows, with nothing merged
    edits.push_back([](Case& edited) {
      edited.operation = Operation::kWitnesses;
      edited.learned_keep = edited.max_replacements = 0;
      edited.in_place = false;
      edited.row_stride.reset();
    });
  }
  if (value.in_place) {
    edits.push_back([](Case& edited) { edited.in_place = false; });
  }
  if (value.row_stride) {
    edits.push_back([](Case& edited) { edited.row_stride.reset(); });
    for (const std::int64_t spare : {1, 2, 4, 16}) {
      edits.push_back([=](Case& edited) { edited.row_stride = edited.topk + spare; });
    }
    for (const std::int64_t stride : smaller_numbers(*value.row_stride)) {
      edits.push_back([=](Case& edited) { edited.row_stride = stride; });
    }
  }
  for (std::int32_t offset = 0; offset < value.base_offset; offset = offset == 0 ? 1 : offset * 2) {
    edits.push_back([=](Case& edited) { edited.base_offset = offset; });
  }
  if (value.form == Form::kFlat) {
    edits.push_back([](Case& edited) { edited.form = Form::kNested; });
  }
  return edits;
}

Edits smaller_counts(const Case& value) {
  Edits edits;
  for (const std::int64_t segments : smaller_numbers(value.num_segments)) {
    edits.push_back([=](Case& edited) { edited.num_segments = segments; });
    if (segments < 1 || !packed_rows(value)) {
      continue;
    }
    edits.push_back([=](Case& edited) { cut_to_segments(edited, segments); });
  }
  if (value.operation != Operation::kApply) {
    return edits;
  }
  for (const std::int64_t budget : {value.num_segments, value.topk}) {
    edits.push_back([=](Case& edited) { edited.max_replacements = budget; });
  }
  for (const std::int64_t budget : smaller_numbers(value.max_replacements)) {
    edits.push_back([=](Case& edited) { edited.max_replacements = budget; });
  }
  edits.push_back([=](Case& edited) { edited.learned_keep = edited.topk + 1; });
  for (const std::int64_t keep : smaller_numbers(value.learned_keep)) {
    edits.push_back([=](Case& edited) { edited.learned_keep = keep; });
  }
  return edits;
}

Edits shorter_lengths(const Case& value) {
  Edits edits;
  const std::size_t rows = value.context_lens.size();
  if (rows == 0) {
    return edits;
  }
  const auto add = [&](std::size_t begin, std::size_t end, std::int64_t len) {
    if (len < std::numeric_limits<std::int32_t>::min() || len > std::numeric_limits<std::int32_t>::max()) {
      return;
    }
    for (const bool move_tokens : {true, false}) {
      edits.push_back([=](Case& edited) {
        for (std::size_t row = begin; row < end; ++row) {
          change_length(edited, row, static_cast<std::int32_t>(len), move_tokens);
        }
      });
    }
  };
  const std::int64_t s = value.num_segments;
  const auto greatest = *std::ranges::max_element(value.context_lens, {}, [](auto len) { return size_of_number(len); });
  const std::int64_t few = std::min<std::int64_t>(s, 1 << 20);
  for (const std::int64_t near : {s, s + 1, 2 * few, 3 * few, 4 * few, 5 * few, 6 * few}) {
    if (size_of_number(near) < size_of_number(greatest)) {
      add(0, rows, near);
    }
  }
  for (const std::int64_t len : smaller_numbers(greatest)) {
    add(0, rows, len);
  }
  if (rows == 1) {
    return edits;
  }
  if (rows > 16 && rows <= 64) {  // below they are changed in groups
    for (std::size_t row = 0; row < rows; ++row) {
      for (const std::int64_t len : {std::int64_t{0}, std::int64_t{1}, s}) {
        if (size_of_number(len) < size_of_number(value.context_lens[row])) {
          add(row, row + 1, len);
        }
      }
    }
  }
  const std::size_t step = std::max<std::size_t>(rows / 16, 1);
  for (std::size_t row = 0; row < rows; row += step) {
    for (const std::int64_t len : smaller_numbers(value.context_lens[row])) {
      add(row, std::min(row + step, rows), len);
    }
  }
  return edits;
}

Edits plainer_tokens(const Case& value) {
  Edits edits;
  const std::vector<std::size_t> slots = telling_slots(value);
  for (const std::int32_t plain : {-1, 0}) {
    for (const auto [begin, end] : chunks(slots.size())) {
      std::vector<std::size_t> chosen(slots.begin() + static_cast<std::ptrdiff_t>(begin),
                                      slots.begin() + static_cast<std::ptrdiff_t>(end));
      edits.push_back([plain, chosen = std::move(chosen)](Case& edited) {
        for (const std::size_t slot : chosen) {
          edited.learned[slot] = plain;
        }
      });
    }
  }
  if (slots.size() > 64) {
    return edits;
  }
  for (const std::size_t slot : slots) {
    edits.push_back([=, edge = own_edge(value, slot)](Case& edited) { edited.learned[slot] = edge; });
    for (const std::int64_t token : smaller_numbers(value.learned[slot])) {
      edits.push_back([=](Case& edited) { edited.learned[slot] = static_cast<std::int32_t>(token); });
    }
  }
  return edits;
}

}  // namespace kvwitness::harness::shrinking
