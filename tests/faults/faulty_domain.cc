// What the right ones with narrow domains serve; all others serve everything.
#include <kvwitness/plugin.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <numeric>
#include <string_view>
#include <thread>

#include "tests/faults/faulty_row.h"

using kvwitness::faults::chosen_entry;
using kvwitness::faults::Fault;

extern "C" int32_t kvw_plugin_domain(kvw_plugin_domain_info* domain) {
  static constexpr int64_t kWidths[] = {512};
  static const auto kSegments = [] {
    std::array<int64_t, 64> list{};
    std::iota(list.begin(), list.end(), 1);
    return list;
  }();
  if (chosen_entry().fault == Fault::right_stating_32_bits) {
    domain->max_context = (1 << 26) - 1;
    domain->flags |= KVW_PLUGIN_IN_RANGE;
    domain->num_segments = kSegments.data();
    domain->num_segments_count = static_cast<int64_t>(kSegments.size());
  }
  if (chosen_entry().fault == Fault::right_stating_shapes) {
    domain->operations = KVW_PLUGIN_SCATTER;
    domain->flags |= KVW_PLUGIN_CONTIGUOUS;
    domain->topk = kWidths;
    domain->topk_count = 1;
    domain->align_bytes = 16;
    domain->max_rows = 64;
  }
  return 0;
}

extern "C" int32_t kvw_plugin_supports(const char* operation, int64_t rows, int64_t topk, int64_t row_stride,
                                       int64_t num_segments, int64_t base_offset_bytes) {
  const bool of_16_bytes = base_offset_bytes % 16 == 0 && (rows < 2 || row_stride % 4 == 0);
  switch (chosen_entry().fault) {
    case Fault::right_of_model_widths:
      return topk == 512 || topk == 1024 || topk == 2048;
    case Fault::right_of_large_widths:
      return topk >= 1024;
    case Fault::right_of_16_bytes:
      return of_16_bytes;
    case Fault::right_of_64_bytes:
      return base_offset_bytes % 64 == 0 && row_stride == topk && topk % 16 == 0;
    case Fault::right_packed:
      return row_stride == topk;
    case Fault::right_of_64_segments:
      return num_segments == 64;
    case Fault::right_of_8_rows:
      return rows % 8 == 0;
    case Fault::right_serving:
      return std::string_view(operation) == "scatter" && topk == 2048 && num_segments == 64 && of_16_bytes;
    case Fault::right_of_powers_of_two:
      return num_segments > 0 && (num_segments & (num_segments - 1)) == 0;
    case Fault::right_of_one_shape:
      return rows == 1 && topk == 2048 && num_segments == 64 && base_offset_bytes % 64 == 0;
    case Fault::right_of_112_and_47:
      return topk == 112 && num_segments == 47;
    case Fault::right_of_few_rows:
      return rows <= 8;
    case Fault::right_of_batches_of_4:
      return rows % 4 == 0;
    case Fault::right_of_one_row:
      return rows == 1;
    case Fault::right_of_scatter:
      return std::string_view(operation) == "scatter";
    case Fault::right_of_tiles:
      return topk > 0 && topk % 128 == 0;
    case Fault::right_of_2051:
      return topk == 2051;
    case Fault::right_of_512_and_64:
      return topk == 512 && num_segments == 64;
    case Fault::right_above_S:
      return topk >= num_segments;
    case Fault::right_of_even_strides:
      return base_offset_bytes % 32 == 0 && row_stride % 8 == 0;
    case Fault::right_checking_2048:
      return topk == 2048;
    case Fault::right_of_large_batches:
      return rows >= 32;
    case Fault::contradicts_itself: {
      static int asked = 0;
      return topk != 5 || ++asked % 2;
    }
    case Fault::domain_crashes:
      if (topk == 2048) std::abort();
      return 1;
    case Fault::domain_hangs:
      if (num_segments == 33) std::this_thread::sleep_for(std::chrono::hours(1));
      return 1;
    default:
      return 1;
  }
}
