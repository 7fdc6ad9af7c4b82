// A Case laid out in memory for a call over host pointers, and what the call did to that memory.
#ifndef PROPERTIES_SANDBOX_CALL_FRAME_H
#define PROPERTIES_SANDBOX_CALL_FRAME_H

#include <kvwitness/case.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "properties/case/implementation.h"
#include "properties/case/outcome.h"
#include "properties/sandbox/call.h"
#include "properties/sandbox/frame_memory.h"

namespace kvwitness::harness {

// One call's arguments with places for pointers: what crosses to the process that makes it. Trivially copyable.
struct PlacedCall {
  Operation operation;
  bool writes_tokens;  // the output is the learned rows themselves
  Placement tokens;
  Placement lengths;
  Placement output;  // as tokens where writes_tokens
  std::int64_t learned_len;
  std::int64_t row_stride;
  std::int64_t topk;
  std::int64_t rows;
  std::int64_t learned_keep;
  std::int64_t num_segments;
  std::int64_t max_replacements;
};

// The buffer in words: "learned rows", "in-place rows", "context lengths", "witnesses" or "output rows".
std::string_view buffer_name(const PlacedCall& call, Region region) noexcept;

// The call with pointers into the memory's guarded view: inputs through its read-only side where `guard_inputs`.
Call resolve(const PlacedCall& placed, const FrameMemory& memory, bool guard_inputs);

// Layout. The rows start base_offset elements after a 64-byte boundary, in the learned buffer and in the output; the
// lengths start on one. The spare columns of strided rows, and what the buffers leave of their pages, hold canaries,
// written by the call or not: values that count as tokens in segments of any length (Fill::kTokens) or as padding
// (Fill::kPadding). A separate output holds a poison that is no right answer for the case: neither an edge, nor -1, nor
// a token of its rows. Of spare columns wider than 2,048 elements only the 1,024 next to each row are filled and
// checked.
//
// A malformed case is laid out packed, with exactly the elements that it has; its arguments are passed as they are.
class CallFrame {
 public:
  // The capacity that FrameMemory needs for the case (not for its prior calls).
  static std::size_t needed_bytes(const Case& value, bool sees_stride);

  // Writes the case into the memory's open view. `sees_stride` says whether the row stride is passed on. The case and
  // the memory must outlive the frame.
  CallFrame(FrameMemory& memory, const Case& value, bool sees_stride, MemoryContext memory_context);
  CallFrame(const CallFrame&) = delete;
  CallFrame& operator=(const CallFrame&) = delete;
  // Gives large pages back.
  ~CallFrame();

  const PlacedCall& placed() const noexcept { return placed_; }

  // Everything observable after the call returned: rows, before, stray. The ending and the status are the caller's to
  // fill in.
  Outcome collect() const;

 private:
  struct Buffer;  // one of the three, with how its elements are arranged

  Buffer tokens() const;
  Buffer lengths() const;
  Buffer output() const;
  void fill(const Buffer& buffer) const;
  std::string stray_of(const Buffer& buffer) const;

  FrameMemory& memory_;
  const Case& value_;
  MemoryContext memory_context_;
  PlacedCall placed_{};
  std::int32_t poison_ = 0;
};

// A value that cannot be a right answer of the case, with which its output is filled before the call.
std::int32_t output_poison(const Case& value, MemoryContext::Fill fill);

}  // namespace kvwitness::harness

#endif  // PROPERTIES_SANDBOX_CALL_FRAME_H
