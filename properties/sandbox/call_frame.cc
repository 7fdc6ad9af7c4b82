#include "properties/sandbox/call_frame.h"

#include <kvwitness/assertions.h>
#include <kvwitness/legality.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <span>

namespace kvwitness::harness {
namespace {

constexpr std::int64_t kElementBytes = sizeof(std::int32_t);
constexpr std::int64_t kNeighbourhood = 1024;  // elements next to a row that wide spare columns have filled and checked

// A long enough stretch of canaries that any window of kPatternLength elements can be copied from it.
constexpr std::size_t kPatternLength = 4096;
using Pattern = std::array<std::int32_t, 2 * kPatternLength>;

std::uint32_t mix(std::uint32_t value) {
  value = (value ^ (value >> 16)) * 0x7FEB352Du;
  value = (value ^ (value >> 15)) * 0x846CA68Bu;
  return value ^ (value >> 16);
}

// Tokens spread over all magnitudes, so that whatever the context length, many of them lie in the context and in
// different segments.
const Pattern& token_pattern() {
  static const Pattern pattern = [] {
    Pattern made;
    for (std::size_t i = 0; i < made.size(); ++i) {
      const std::uint32_t noise = mix(static_cast<std::uint32_t>(i % kPatternLength) + 1);
      made[i] = static_cast<std::int32_t>((noise & 0x7FFFFFFFu) >> (i % 31));
    }
    return made;
  }();
  return pattern;
}

const Pattern& padding_pattern() {
  static const Pattern pattern = [] {
    Pattern made;
    for (std::size_t i = 0; i < made.size(); ++i) {
      made[i] = static_cast<std::int32_t>(0x80000000u | mix(static_cast<std::uint32_t>(i % kPatternLength) + 77));
    }
    return made;
  }();
  return pattern;
}

// Canaries: the element at index i of a region holds pattern[i mod kPatternLength].
void fill_canaries(std::int32_t* region, std::int64_t begin, std::int64_t end, const Pattern& pattern) {
  while (begin < end) {
    const auto phase = static_cast<std::size_t>(begin) % kPatternLength;
    const auto count = std::min(static_cast<std::size_t>(end - begin), kPatternLength);
    std::memcpy(region + begin, pattern.data() + phase, count * sizeof(std::int32_t));
    begin += static_cast<std::int64_t>(count);
  }
}

// The first canary in [begin, end) that has changed, or end.
std::int64_t first_changed_canary(const std::int32_t* region, std::int64_t begin, std::int64_t end,
                                  const Pattern& pattern) {
  while (begin < end) {
    const auto phase = static_cast<std::size_t>(begin) % kPatternLength;
    const auto count = std::min(static_cast<std::size_t>(end - begin), kPatternLength);
    if (std::memcmp(region + begin, pattern.data() + phase, count * sizeof(std::int32_t)) != 0) {
      return begin + (std::mismatch(region + begin, region + end, pattern.data() + phase).first - (region + begin));
    }
    begin += static_cast<std::int64_t>(count);
  }
  return end;
}

std::int32_t canary_at(std::int64_t index, const Pattern& pattern) {
  return pattern[static_cast<std::size_t>(index) % kPatternLength];
}

// Whether the rows lie apart in memory: the stride is passed on, and the call may be made with it.
bool laid_out_strided(const Case& value, bool sees_stride) {
  return sees_stride && value.row_stride && value.topk > 0 && value.rows() > 1 && *value.row_stride > value.topk &&
         expected_status(value, true) == 0 &&
         static_cast<std::int64_t>(value.learned.size()) == value.rows() * value.topk &&
         *value.row_stride <= (kMaxSpannedElements - value.topk) / (value.rows() - 1);
}

std::int64_t span_elements(const Case& value, bool sees_stride) {
  return laid_out_strided(value, sees_stride) ? (value.rows() - 1) * *value.row_stride + value.topk
                                              : static_cast<std::int64_t>(value.learned.size());
}

bool writes_tokens(const Case& value) {
  return value.operation == Operation::kScatter || (value.operation == Operation::kApply && value.in_place);
}

}  // namespace

std::int32_t output_poison(const Case& value, MemoryContext::Fill fill) {
  // No edge reaches INT32_MAX - k while the longest context is no longer than that; none is negative at all.
  const std::int32_t longest =
      value.context_lens.empty() ? 0 : *std::max_element(value.context_lens.begin(), value.context_lens.end());
  const bool copies_tokens = value.operation != Operation::kWitnesses;
  const auto is_token = [&](std::int32_t poison) {
    return copies_tokens && std::find(value.learned.begin(), value.learned.end(), poison) != value.learned.end();
  };
  if (fill == MemoryContext::Fill::kPadding) {
    // A poison that looks like a token, where the fill around looks like padding, and the other way round.
    for (std::int32_t poison = std::numeric_limits<std::int32_t>::max(); poison >= longest && poison > 0; --poison) {
      if (!is_token(poison)) {
        return poison;
      }
    }
  }
  std::int32_t poison = -0x5A5A5A5B;
  while (is_token(poison)) {
    --poison;
  }
  return poison;
}

std::string_view buffer_name(const PlacedCall& call, Region region) noexcept {
  switch (region) {
    case Region::kTokens:
      return call.writes_tokens ? "in-place rows" : "learned rows";
    case Region::kLengths:
      return "context lengths";
    case Region::kOutput:
      break;
  }
  return call.operation == Operation::kWitnesses ? "witnesses" : "output rows";
}

Call resolve(const PlacedCall& placed, const FrameMemory& memory, bool guard_inputs) {
  const auto pointer = [&](Region region, const Placement& placement, bool writable) {
    return reinterpret_cast<std::int32_t*>(memory.guarded(region, writable) + placement.first);
  };
  std::int32_t* const tokens = pointer(Region::kTokens, placed.tokens, placed.writes_tokens || !guard_inputs);
  return {.operation = placed.operation,
          .learned = tokens,
          .learned_len = placed.learned_len,
          .row_stride = placed.row_stride,
          .topk = placed.topk,
          .context_lens = pointer(Region::kLengths, placed.lengths, !guard_inputs),
          .rows = placed.rows,
          .learned_keep = placed.learned_keep,
          .num_segments = placed.num_segments,
          .max_replacements = placed.max_replacements,
          .out = placed.writes_tokens ? tokens : pointer(Region::kOutput, placed.output, true)};
}

// How the elements of a buffer are arranged in its region, counted in elements from the region's beginning.
struct CallFrame::Buffer {
  Region region;
  Placement placement;
  std::string_view name;
  std::int32_t* elements;  // of the region, in the open view
  std::int64_t first;
  std::int64_t rows;  // stretches of `width` elements, `stride` apart
  std::int64_t width;
  std::int64_t stride;
  const std::int32_t* values;  // packed contents before the call, null where it is the poison

  std::int64_t end() const { return first + placement_span(); }
  std::int64_t placement_span() const { return static_cast<std::int64_t>(placement.span_bytes) / kElementBytes; }
  std::int64_t row_begin(std::int64_t row) const { return first + row * stride; }

  // Calls visit(begin, end, row) for each stretch of canaries: before the rows (row -1), after each row but the
  // last (its row), and after the last (rows).
  template <typename Visit>
  void for_each_canary_stretch(Visit visit) const {
    visit(static_cast<std::int64_t>(placement.pages_begin) / kElementBytes, first, std::int64_t{-1});
    if (stride > width) {
      for (std::int64_t row = 0; row + 1 < rows; ++row) {
        const std::int64_t begin = row_begin(row) + width;
        const std::int64_t finish = row_begin(row + 1);
        if (finish - begin <= 2 * kNeighbourhood) {
          visit(begin, finish, row);
        } else {
          visit(begin, begin + kNeighbourhood, row);
          visit(finish - kNeighbourhood, finish, row);
        }
      }
    }
    visit(end(), static_cast<std::int64_t>(placement.pages_end) / kElementBytes, rows);
  }
};

std::size_t CallFrame::needed_bytes(const Case& value, bool sees_stride) {
  return static_cast<std::size_t>(kElementBytes *
                                  std::max({span_elements(value, sees_stride), value.rows(), output_elements(value)}));
}

CallFrame::CallFrame(FrameMemory& memory, const Case& value, bool sees_stride, MemoryContext memory_context)
    : memory_(memory), value_(value), memory_context_(memory_context) {
  KVWITNESS_ASSERT(needed_bytes(value, sees_stride) <= memory.capacity_bytes());
  const bool strided = laid_out_strided(value, sees_stride);
  const bool in_place = writes_tokens(value);
  const std::int64_t span = span_elements(value, sees_stride);
  const std::int64_t output_span = value.operation == Operation::kWitnesses ? output_elements(value) : span;
  const auto place = [&](std::int64_t elements, std::int64_t base_offset) {
    return memory.place(static_cast<std::size_t>(elements * kElementBytes),
                        static_cast<std::size_t>(base_offset * kElementBytes), memory_context.guard_in_front);
  };
  // The lengths need no more than the alignment of their elements, so they lie flush with the guard page.
  const std::int64_t flush = memory_context.guard_in_front ? 0 : -value.rows() & 15;
  placed_ = {.operation = value.operation,
             .writes_tokens = in_place,
             .tokens = place(span, value.base_offset),
             .lengths = place(value.rows(), flush),
             .output = in_place ? place(span, value.base_offset) : place(output_span, value.base_offset),
             .learned_len = static_cast<std::int64_t>(value.learned.size()),
             .row_stride = strided || (sees_stride && value.row_stride) ? *value.row_stride : value.topk,
             .topk = value.topk,
             .rows = value.rows(),
             .learned_keep = value.learned_keep,
             .num_segments = value.num_segments,
             .max_replacements = value.max_replacements};
  fill(tokens());
  fill(lengths());
  if (!in_place) {
    poison_ = output_poison(value, memory_context.fill);
    fill(output());
  }
}

CallFrame::~CallFrame() {
  memory_.release(Region::kTokens, placed_.tokens);
  memory_.release(Region::kLengths, placed_.lengths);
  if (!placed_.writes_tokens) {
    memory_.release(Region::kOutput, placed_.output);
  }
}

CallFrame::Buffer CallFrame::tokens() const {
  const auto elements = static_cast<std::int64_t>(value_.learned.size());
  const std::int64_t span = static_cast<std::int64_t>(placed_.tokens.span_bytes) / kElementBytes;
  const bool strided = span != elements;
  return {.region = Region::kTokens,
          .placement = placed_.tokens,
          .name = buffer_name(placed_, Region::kTokens),
          .elements = reinterpret_cast<std::int32_t*>(memory_.open(Region::kTokens)),
          .first = static_cast<std::int64_t>(placed_.tokens.first) / kElementBytes,
          .rows = strided ? placed_.rows : 1,
          .width = strided ? placed_.topk : elements,
          .stride = strided ? placed_.row_stride : elements,
          .values = value_.learned.data()};
}

CallFrame::Buffer CallFrame::lengths() const {
  return {.region = Region::kLengths,
          .placement = placed_.lengths,
          .name = buffer_name(placed_, Region::kLengths),
          .elements = reinterpret_cast<std::int32_t*>(memory_.open(Region::kLengths)),
          .first = static_cast<std::int64_t>(placed_.lengths.first) / kElementBytes,
          .rows = 1,
          .width = placed_.rows,
          .stride = placed_.rows,
          .values = value_.context_lens.data()};
}

CallFrame::Buffer CallFrame::output() const {
  Buffer buffer = tokens();
  if (placed_.writes_tokens) {
    return buffer;
  }
  buffer.region = Region::kOutput;
  buffer.placement = placed_.output;
  buffer.name = buffer_name(placed_, Region::kOutput);
  buffer.elements = reinterpret_cast<std::int32_t*>(memory_.open(Region::kOutput));
  buffer.first = static_cast<std::int64_t>(placed_.output.first) / kElementBytes;
  buffer.values = nullptr;
  if (placed_.operation == Operation::kWitnesses) {
    buffer.rows = 1;
    buffer.width = buffer.stride = buffer.placement_span();
  }
  return buffer;
}

void CallFrame::fill(const Buffer& buffer) const {
  const Pattern& pattern = memory_context_.fill == MemoryContext::Fill::kTokens ? token_pattern() : padding_pattern();
  buffer.for_each_canary_stretch(
      [&](std::int64_t begin, std::int64_t end, std::int64_t) { fill_canaries(buffer.elements, begin, end, pattern); });
  for (std::int64_t row = 0; row < buffer.rows; ++row) {
    std::int32_t* const begin = buffer.elements + buffer.row_begin(row);
    if (buffer.values != nullptr) {
      std::copy_n(buffer.values + row * buffer.width, buffer.width, begin);
    } else {
      std::fill_n(begin, buffer.width, poison_);
    }
  }
}

namespace {

std::string change(std::int32_t before, std::int32_t after) {
  return " changed from " + std::to_string(before) + " to " + std::to_string(after);
}

}  // namespace

// The first canary that changed, as a sentence; and for a buffer that is only an input, the first element that
// changed.
std::string CallFrame::stray_of(const Buffer& buffer) const {
  const Pattern& pattern = memory_context_.fill == MemoryContext::Fill::kTokens ? token_pattern() : padding_pattern();
  std::string found;
  buffer.for_each_canary_stretch([&](std::int64_t begin, std::int64_t end, std::int64_t row) {
    const std::int64_t at = found.empty() ? first_changed_canary(buffer.elements, begin, end, pattern) : end;
    if (at == end) {
      return;
    }
    const std::string name(buffer.name);
    if (row < 0) {
      found = "element " + std::to_string(buffer.first - at) + " before the " + name;
    } else if (row >= buffer.rows) {
      found = "element " + std::to_string(at - buffer.end()) + " past the end of the " + name;
    } else {
      found = "spare column " + std::to_string(at - buffer.row_begin(row)) + " of row " + std::to_string(row) +
              " of the " + name;
    }
    found += change(canary_at(at, pattern), buffer.elements[at]);
  });
  const bool is_only_input = buffer.values != nullptr && !(buffer.region == Region::kTokens && placed_.writes_tokens);
  for (std::int64_t row = 0; is_only_input && found.empty() && row < buffer.rows; ++row) {
    const std::int32_t* const now = buffer.elements + buffer.row_begin(row);
    const std::int32_t* const then = buffer.values + row * buffer.width;
    if (buffer.width > 0 && std::memcmp(now, then, static_cast<std::size_t>(buffer.width * kElementBytes)) != 0) {
      const std::int64_t at = std::mismatch(now, now + buffer.width, then).first - now;
      found = "the input " + std::string(buffer.name) + ": element " + std::to_string(row * buffer.width + at) +
              change(then[at], now[at]);
    }
  }
  return found;
}

Outcome CallFrame::collect() const {
  Outcome outcome;
  const Buffer result = output();
  outcome.rows.reserve(static_cast<std::size_t>(result.rows * result.width));
  for (std::int64_t row = 0; row < result.rows; ++row) {
    const std::int32_t* const begin = result.elements + result.row_begin(row);
    outcome.rows.insert(outcome.rows.end(), begin, begin + result.width);
  }
  if (result.values == nullptr) {
    outcome.before.assign(outcome.rows.size(), poison_);
  } else {
    outcome.before = value_.learned;
  }
  outcome.stray = stray_of(tokens());
  if (outcome.stray.empty()) {
    outcome.stray = stray_of(lengths());
  }
  if (outcome.stray.empty() && !placed_.writes_tokens) {
    outcome.stray = stray_of(result);
  }
  return outcome;
}

}  // namespace kvwitness::harness
