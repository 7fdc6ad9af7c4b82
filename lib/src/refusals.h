// Checks whose failure is a Refusal of the C++ interface.
#ifndef LIB_SRC_REFUSALS_H
#define LIB_SRC_REFUSALS_H

#include <expected>

#include "kvwitness/witness.h"
#include "lib/src/checks.h"

namespace kvwitness::detail {

using Checked = std::expected<void, Refusal>;

// An outcome of checks as a Refusal. The words count for nothing.
class RefusalOutcome {
 public:
  bool passed() const noexcept { return status_ == KVW_OK; }

  [[gnu::format(printf, 4, 5)]] void refuse(kvw_status status, const Numbers& numbers, const char*, ...) noexcept {
    status_ = status;
    numbers_ = numbers;
  }

  Checked checked() const noexcept {
    const auto [first, second, third] = numbers_;
    switch (status_) {
      case KVW_OK:
        return {};
      case KVW_ROWS_MISMATCH:
        return std::unexpected(RowsMismatch{first, second, third});
      case KVW_SEGMENTS_OUT_OF_RANGE:
        return std::unexpected(SegmentsOutOfRange{first});
      case KVW_LEARNED_KEEP_OUT_OF_RANGE:
        return std::unexpected(LearnedKeepOutOfRange{first, second});
      case KVW_ROW_STRIDE:
        return std::unexpected(RowStrideOutOfRange{first, second});
      case KVW_BUFFER_TOO_SMALL:
        return std::unexpected(BufferTooSmall{first, second});
      default:  // no other status comes of a call's own arguments
        KVWITNESS_ASSERT(status_ == KVW_BUFFER_OVERLAP, status_);
        return std::unexpected(BufferOverlap{});
    }
  }

 private:
  kvw_status status_ = KVW_OK;
  Numbers numbers_;
};

using RefusalChecks = Checks<RefusalOutcome>;

// A buffer of the C++ interface, which no message names.
template <typename Element>
Buffer buffer(const Element* data, std::size_t len) noexcept {
  return {"", data, len * sizeof(Element)};
}

}  // namespace kvwitness::detail

#endif  // LIB_SRC_REFUSALS_H
