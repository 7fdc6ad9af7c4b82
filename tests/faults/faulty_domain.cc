// What the right ones with narrow domains serve; all others serve everything.
#include <kvwitness/plugin.h>

#include <string_view>

#include "tests/faults/faulty_row.h"

using kvwitness::faults::chosen_fault;
using kvwitness::faults::Fault;

extern "C" int32_t kvw_plugin_supports(const char* operation, int64_t rows, int64_t topk, int64_t row_stride,
                                       int64_t num_segments, int64_t base_offset_bytes) {
  const bool of_16_bytes = base_offset_bytes % 16 == 0 && (rows < 2 || row_stride % 4 == 0);
  switch (chosen_fault()) {
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
    default:
      return 1;
  }
}
