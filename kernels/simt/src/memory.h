// The memories of the model: global buffers, dynamic and static shared memory.
#ifndef KVWITNESS_KERNELS_SIMT_SRC_MEMORY_H
#define KVWITNESS_KERNELS_SIMT_SRC_MEMORY_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/simt/src/schedule.h"

namespace kvwitness::simt::detail {

// Pages of which the last bytes are in use, up to an inaccessible page; another one lies before them. The bytes in
// between hold a known pattern, and are poisoned under AddressSanitizer.
class GuardedMemory {
 public:
  GuardedMemory() = default;
  // The first byte in use is `offset` past a multiple of `alignment`, a power of two of at most a page.
  GuardedMemory(std::size_t bytes, std::size_t alignment, std::size_t offset);
  // Rows, each with pages of its own and an inaccessible one behind it.
  GuardedMemory(std::size_t rows, std::size_t row_bytes);
  GuardedMemory(GuardedMemory&& other) noexcept;
  GuardedMemory& operator=(GuardedMemory&& other) noexcept;
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;
  ~GuardedMemory();

  std::byte* data() const noexcept { return data_; }
  std::size_t size_bytes() const noexcept { return bytes_; }
  std::size_t rows() const noexcept { return rows_; }
  std::size_t row_bytes() const noexcept { return row_bytes_; }
  std::size_t pitch_bytes() const noexcept { return pitch_bytes_; }

  // Whether the address lies in one of the pages, accessible or not.
  bool surrounds(const void* address) const noexcept;
  // The offset from data() of the first changed byte outside, if there is one.
  std::optional<std::ptrdiff_t> first_changed_byte() const noexcept;
  void restore_surroundings() noexcept;

 private:
  std::byte* mapping_ = nullptr;
  std::size_t mapping_bytes_ = 0;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  std::size_t rows_ = 0, row_bytes_ = 0, pitch_bytes_ = 0;
};

// Whether a living buffer begins there.
bool is_global(const void* memory) noexcept;
// How many bytes of a living buffer lie from the address on; 0 where it is beside the bytes in use, and nothing where
// no buffer is near.
std::optional<std::size_t> global_bytes_from(const void* address) noexcept;
// Describes an access at `address` in terms of the buffer it missed; empty where no buffer is near.
std::string describe_global(const void* address);
// The first living buffer whose surroundings changed, described; empty where there is none. The surroundings are
// restored.
std::string describe_changed_global();

// The sections that hold the `__shared__` variables of every loaded program and library. Scans again only when one was
// loaded.
struct SharedRange {
  std::byte* begin;
  std::size_t bytes;
};
const std::vector<SharedRange>& static_shared_ranges();

// That the kernel's own static shared memory is more than a block has; empty where it is not, or where the program has no
// symbol table.
std::string describe_excess_static_shared(const void* kernel);

// What memory holds that nobody wrote: zeros, ones or noise without a zero byte.
std::uint64_t draw_poison(Random& random) noexcept;
// That of global memory, from now on.
void seed_global_poison(std::uint64_t schedule) noexcept;

// Fills with a pattern, and makes ThreadSanitizer forget what was there.
void poison_shared(std::byte* begin, std::size_t bytes, std::uint64_t pattern) noexcept;

}  // namespace kvwitness::simt::detail

#endif  // KVWITNESS_KERNELS_SIMT_SRC_MEMORY_H
