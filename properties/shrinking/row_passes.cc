// Fewer rows, fewer slots, fewer values.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "properties/shrinking/passes.h"
#include "properties/shrinking/steps.h"

namespace kvwitness::harness::shrinking {
namespace {

// Moves the base so that the buffer ends where it ended, modulo the 16 elements by which bases are placed: a fault that
// reads or writes behind the buffer shows only where an unreadable page begins.
void keep_end(Case& edited, std::size_t gone) {
  edited.base_offset = static_cast<std::int32_t>((static_cast<std::size_t>(edited.base_offset) + gone) % 16);
}
bool ends_at_a_page(const Case& value) {
  return !value.learned.empty() && !value.row_stride &&
         (value.learned.size() + static_cast<std::size_t>(value.base_offset)) % 16 == 0;
}

void drop_slots_of(Case& edited, std::size_t begin, std::size_t end, bool move_keep) {
  const auto topk = static_cast<std::size_t>(edited.topk);
  std::vector<std::int32_t> kept;
  kept.reserve(edited.learned.size());
  for (std::size_t i = 0; i < edited.learned.size(); ++i) {
    if (const std::size_t slot = i % topk; slot < begin || slot >= end) {
      kept.push_back(edited.learned[i]);
    }
  }
  edited.learned = std::move(kept);
  if (move_keep) {
    const auto keep = static_cast<std::size_t>(edited.learned_keep);
    edited.learned_keep -= static_cast<std::int64_t>(std::min(keep, end) - std::min(keep, begin));
  }
  const auto gone = static_cast<std::int64_t>(end - begin);
  if (edited.row_stride && (*edited.row_stride >= edited.topk || *edited.row_stride >= gone)) {
    *edited.row_stride -= gone;
  }
  edited.topk -= gone;
}

}  // namespace

Edits drop_rows(const Case& value) {
  Edits edits;
  const bool with_tokens = packed_rows(value);
  for (const auto [begin, end] : chunks(value.context_lens.size())) {
    edits.push_back([=, topk = static_cast<std::size_t>(with_tokens ? value.topk : 0)](Case& edited) {
      erase_range(edited.context_lens, begin, end);
      if (with_tokens) {
        erase_range(edited.learned, begin * topk, end * topk);
      }
    });
    if (!with_tokens || !ends_at_a_page(value)) {
      continue;
    }
    edits.push_back([last = edits.back(), gone = (end - begin) * static_cast<std::size_t>(value.topk)](Case& edited) {
      last(edited);
      keep_end(edited, gone);
    });
  }
  return edits;
}

Edits drop_slots(const Case& value) {
  Edits edits;
  if (!packed_rows(value)) {
    return edits;
  }
  const bool keeps = value.operation == Operation::kApply && value.learned_keep > 0 && value.learned_keep <= value.topk;
  for (const auto [begin, end] : chunks(static_cast<std::size_t>(value.topk))) {
    edits.push_back([=](Case& edited) { drop_slots_of(edited, begin, end, keeps); });
    if (keeps) {
      edits.push_back([=](Case& edited) { drop_slots_of(edited, begin, end, false); });
    }
    if (value.row_stride) {  // rows where they were: a fault may depend on the distance between them
      edits.push_back([=](Case& edited) {
        drop_slots_of(edited, begin, end, keeps);
        edited.row_stride = value.row_stride;
      });
    }
    if (!ends_at_a_page(value)) {
      continue;
    }
    edits.push_back([=, gone = (end - begin) * value.context_lens.size()](Case& edited) {
      drop_slots_of(edited, begin, end, keeps);
      keep_end(edited, gone);
    });
  }
  return edits;
}

Edits drop_values(const Case& value) {
  Edits edits;
  if (packed_rows(value)) {
    return edits;
  }
  for (const auto [begin, end] : chunks(value.learned.size())) {
    edits.push_back([=](Case& edited) { erase_range(edited.learned, begin, end); });
  }
  for (const std::int64_t topk : smaller_numbers(value.topk)) {
    edits.push_back([=](Case& edited) { edited.topk = topk; });
  }
  return edits;
}

Edits narrower_rows(const Case& value) {
  Edits edits;
  if (!packed_rows(value) || value.topk < 2) {
    return edits;
  }
  for (std::int64_t fewer = std::min(value.topk, value.num_segments) / 2; fewer > 0; fewer /= 2) {
    const auto topk = static_cast<std::size_t>(value.topk);
    const auto gone = static_cast<std::size_t>(fewer);
    for (const std::size_t begin : {topk - gone, std::size_t{0}}) {
      edits.push_back([=, segments = value.num_segments - fewer](Case& edited) {
        drop_slots_of(edited, begin, begin + gone, begin == 0 && edited.learned_keep >= fewer);
        edited.learned_keep = std::min(edited.learned_keep, edited.topk);
        cut_to_segments(edited, segments);
      });
    }
  }
  return edits;
}

}  // namespace kvwitness::harness::shrinking
