#include "fuzz/planted_faults/cpp_interface.h"

#include <kvwitness/backend.h>
#include <kvwitness/witness.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <expected>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "fuzz/planted_faults/catalogue.h"
#include "fuzz/planted_faults/stand_in.h"

namespace kvwitness::fuzz {
namespace {

using Done = std::expected<void, Refusal>;
using Made = std::expected<std::vector<std::int32_t>, Refusal>;
using In = std::span<const std::int32_t>;
using Out = std::span<std::int32_t>;
using StridedIn = StridedRows<const std::int32_t>;
using StridedOut = StridedRows<std::int32_t>;
using Size = std::size_t;

bool is(PlantedFault fault) {
  return planted_fault() == fault;
}

template <typename Refused>
bool refuses(const Done& done) {
  return !done && std::holds_alternative<Refused>(done.error());
}

Made returned_witnesses(In learned, Size topk, In lens, Size segments) {
  Made made = witness_indices(learned, topk, lens, segments);
  if (is(PlantedFault::cpp_short_result) && made && lens.size() > 1) {
    made->pop_back();
  }
  return made;
}

Done packed_witnesses(In learned, Size topk, In lens, Size segments, Out out) {
  Done done = witness_indices_into(learned, topk, lens, segments, out);
  if (is(PlantedFault::cpp_mismatch_swapped) && refuses<RowsMismatch>(done)) {
    auto& mismatch = std::get<RowsMismatch>(done.error());
    std::swap(mismatch.topk, mismatch.rows);
  }
  if (refuses<BufferTooSmall>(done)) {
    auto& small = std::get<BufferTooSmall>(done.error());
    if (is(PlantedFault::cpp_small_buffer) && small.len + 1 == small.needed_len) {
      return {};
    }
    small.needed_len -= is(PlantedFault::cpp_needs_one_less) ? 1 : 0;
  }
  const auto first = reinterpret_cast<std::uintptr_t>(learned.data());
  const auto second = reinterpret_cast<std::uintptr_t>(out.data());
  const std::uintptr_t shared =
      std::min(first + learned.size() * 4 - second, second + lens.size() * segments * 4 - first);
  return is(PlantedFault::cpp_overlap_of_4) && refuses<BufferOverlap>(done) && shared <= 4 ? Done() : done;
}

Done strided_witnesses(StridedIn learned, Size topk, In lens, Size segments, Out out) {
  const bool is_cut = lens.size() > 1 && topk > 0 && learned.elements.size() < lens.size() * learned.row_stride;
  const Done done = witness_indices_into(learned, topk, lens, segments, out);
  return is(PlantedFault::cpp_whole_last_row) && done && is_cut
             ? Done(std::unexpect, RowsMismatch{learned.elements.size(), topk, lens.size()})
             : done;
}

Done packed_apply(In learned, Size topk, In lens, Size keep, Size segments, Size most, Out out) {
  if (is(PlantedFault::cpp_65_segments) && segments == 65) {
    return apply_into(learned, topk, lens, keep, 64, most, out);
  }
  if (is(PlantedFault::cpp_in_place_refused) && out.data() == learned.data() && !out.empty() && !lens.empty()) {
    return std::unexpected(BufferOverlap());
  }
  Done done = apply_into(learned, topk, lens, keep, segments, most, out);
  if (is(PlantedFault::cpp_keep_before_segments) && refuses<SegmentsOutOfRange>(done) && keep > topk) {
    return std::unexpected(LearnedKeepOutOfRange{keep, topk});
  }
  return done;
}

Done strided_apply(StridedIn learned, Size topk, In lens, Size keep, Size segments, Size most, StridedOut out) {
  const Done done = apply_into(learned, topk, lens, keep, segments, most, out);
  return is(PlantedFault::cpp_output_stride) && refuses<RowStrideOutOfRange>(done) && learned.row_stride >= topk
             ? Done()
             : done;
}

Done apply_of_backend(const Backend& backend, In learned, Size topk, In lens, Size keep, Size segments, Size most,
                      Out out) {
  return apply_into(backend, learned, topk, lens, keep, segments,
                    is(PlantedFault::cpp_budget_of_zero) ? std::max<Size>(most, 1) : most, out);
}

Done packed_scatter(Out rows, Size topk, In lens, Size segments) {
  if (is(PlantedFault::cpp_off_switch_checks) && segments == 0 && rows.size() != lens.size() * topk) {
    return std::unexpected(RowsMismatch{rows.size(), topk, lens.size()});
  }
  return scatter(rows, topk, lens, segments);
}

Done strided_scatter(StridedOut rows, Size topk, In lens, Size segments) {
  const Done done = scatter(rows, topk, lens, segments);
  if (is(PlantedFault::cpp_spare_column) && done && segments > 0 && lens.size() > 1 && rows.row_stride > topk &&
      topk > 0) {
    rows.elements[topk] ^= 1;
  }
  return done;
}

}  // namespace

AnyFunction planted_cpp_function(AnyFunction function) {
  static const std::array kStandIns = {
      stand_in<Made(In, Size, In, Size)>(witness_indices, returned_witnesses),
      stand_in<Done(In, Size, In, Size, Out)>(witness_indices_into, packed_witnesses),
      stand_in<Done(StridedIn, Size, In, Size, Out)>(witness_indices_into, strided_witnesses),
      stand_in<Done(In, Size, In, Size, Size, Size, Out)>(apply_into, packed_apply),
      stand_in<Done(StridedIn, Size, In, Size, Size, Size, StridedOut)>(apply_into, strided_apply),
      stand_in<Done(const Backend&, In, Size, In, Size, Size, Size, Out)>(apply_into, apply_of_backend),
      stand_in<Done(Out, Size, In, Size)>(scatter, packed_scatter),
      stand_in<Done(StridedOut, Size, In, Size)>(scatter, strided_scatter),
  };
  return planted_for(function, kStandIns);
}

}  // namespace kvwitness::fuzz
