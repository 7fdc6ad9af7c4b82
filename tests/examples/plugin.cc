// A plug-in in C++ for a kernel that serves one shape of call: scatter of rows of a model's width, packed, at 16-byte
// bases. What it declines is counted as unsupported and never judged.
//
//     c++ -std=c++17 -O2 -shared -fPIC -I properties/include tests/examples/plugin.cc -o serving.so
//     kvwitness verify --plugin ./serving.so
//
// Replace `scatter_row` by a launch of your kernel between two copies.
#include <kvwitness/plugin.h>

#include <algorithm>
#include <bitset>
#include <cstdint>
#include <string_view>

namespace {

constexpr std::int64_t kMostSegments = 64;

bool is_model_width(std::int64_t topk) {
  return topk == 512 || topk == 1024 || topk == 2048;
}

void scatter_row(std::int32_t* row, std::int64_t topk, std::int64_t context_len, std::int64_t num_segments) {
  if (context_len <= 0 || num_segments == 0) return;  // an empty row; switched off
  const std::int64_t segments = std::min(num_segments, context_len);
  std::bitset<kMostSegments> occupied;
  for (std::int64_t slot = 0; slot < topk; ++slot) {
    if (row[slot] < 0) continue;  // padding
    const std::int64_t segment = row[slot] * segments / context_len;
    occupied.set(static_cast<std::size_t>(std::min(segment, num_segments - 1)));
  }
  std::int64_t slot = topk - num_segments;  // a model's width is above every number of segments
  for (std::int64_t s = 0; s < segments; ++s) {
    if (occupied[static_cast<std::size_t>(s)]) continue;
    row[slot++] = static_cast<std::int32_t>((s * context_len + segments - 1) / segments);
  }
}

}  // namespace

extern "C" {

std::int32_t kvw_plugin_abi_version() {
  return KVW_PLUGIN_ABI_VERSION;
}

const char* kvw_plugin_name() {
  return "serving-widths";
}

std::int32_t kvw_plugin_supports(const char* operation, std::int64_t, std::int64_t topk, std::int64_t row_stride,
                                 std::int64_t, std::int64_t base_offset_bytes) {
  return std::string_view(operation) == "scatter" && is_model_width(topk) && row_stride == topk &&
         base_offset_bytes % 16 == 0;
}

std::int32_t kvw_plugin_scatter(std::int32_t* topk_indices, std::int64_t row_stride, std::int64_t topk,
                                const std::int32_t* context_lens, std::int64_t rows, std::int64_t num_segments) {
  for (std::int64_t row = 0; row < rows; ++row) {
    scatter_row(topk_indices + row * row_stride, topk, context_lens[row], num_segments);
  }
  return 0;
}

}  // extern "C"
