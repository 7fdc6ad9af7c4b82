// Memory for the buffers of one call: sparse, shared between processes, with an unreadable page directly before and
// after each buffer.
//
// The memory is a file without a name (system_calls.h). The process that lays calls out maps it without guards; the process
// that makes the calls maps it with them, the inputs read-only where the call may not write them. Offsets are the same
// in both.
#ifndef PROPERTIES_SANDBOX_FRAME_MEMORY_H
#define PROPERTIES_SANDBOX_FRAME_MEMORY_H

#include <kvwitness/assertions.h>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace kvwitness::harness {

enum class Region : std::uint8_t { kTokens, kLengths, kOutput };
inline constexpr std::size_t kRegionCount = 3;

// Where a buffer lies, as byte offsets into its region. Its pages are accessible, those on both sides are not; what the
// buffer leaves of its own pages holds canaries.
struct Placement {
  std::size_t pages_begin = 0;
  std::size_t pages_end = 0;
  std::size_t first = 0;       // of the first element
  std::size_t span_bytes = 0;  // may be 0; then `first` may lie on the guard page
};

class FrameMemory {
 public:
  static constexpr std::size_t kPageBytes = 4096;
  // From a boundary of this many bytes a buffer's base offset counts.
  static constexpr std::size_t kAlignBytes = 64;
  static constexpr std::size_t kDefaultCapacityBytes = std::size_t{1} << 26;

  // Room for one buffer of up to capacity_bytes in each region. Only touched pages take memory. Throws
  // NoIsolation where no such memory is to be had, and std::system_error.
  explicit FrameMemory(std::size_t capacity_bytes = kDefaultCapacityBytes);
  // The same memory, of `capacity_bytes` as it was made with, in another process. Takes the descriptor over.
  static FrameMemory adopt(int descriptor, std::size_t capacity_bytes) {
    return FrameMemory(descriptor, capacity_bytes);
  }
  FrameMemory(FrameMemory&& other) noexcept;
  FrameMemory& operator=(FrameMemory&&) = delete;
  ~FrameMemory();

  std::size_t capacity_bytes() const noexcept { return capacity_bytes_; }
  int descriptor() const noexcept { return descriptor_; }

  // A place for a buffer of span_bytes (at most the capacity) whose first element lies offset_bytes (below 64) after a
  // 64-byte boundary. Its end touches the guard page after it as closely as that boundary allows (exactly, for some
  // offset); with guard_in_front its beginning touches the guard page before it, offset_bytes apart.
  Placement place(std::size_t span_bytes, std::size_t offset_bytes, bool guard_in_front) const noexcept;

  // The bytes of a region in this process's open view, which has no guards.
  std::byte* open(Region region) const noexcept { return open_ + region_begin(region); }

  // Makes the guarded view in this process: every page inaccessible but those of placements. Needed before guarded().
  void map_guarded();
  // The bytes of a region in the guarded view, writable or read-only.
  std::byte* guarded(Region region, bool writable) const noexcept {
    KVWITNESS_ASSERT(writable_ != nullptr && read_only_ != nullptr);
    return (writable ? writable_ : read_only_) + region_begin(region);
  }
  // The guard pages of large buffers move with the buffer: raise puts them around a placement in the guarded view,
  // lower takes them away again. Both do nothing for small ones.
  void raise_guards(Region region, const Placement& placement) const noexcept { move_guards(region, placement, false); }
  void lower_guards(Region region, const Placement& placement) const noexcept { move_guards(region, placement, true); }

  // Children of this process do not inherit its open view.
  void keep_from_children() const noexcept;

  // Where an address of the guarded view lies; nothing where it is none.
  struct Location {
    Region region;
    std::size_t offset;
    bool read_only;
  };
  std::optional<Location> locate(const void* address) const noexcept;

  // Gives the pages of a large placement back to the system; they read as 0 afterwards.
  void release(Region region, const Placement& placement) const noexcept;

 private:
  FrameMemory(int descriptor, std::size_t capacity_bytes);

  // Buffers of up to this many pages have a slot of exactly their size between fixed guard pages; larger ones share one
  // stretch.
  static constexpr std::size_t kSlotCount = 16;
  static constexpr std::size_t slot_begin(std::size_t pages) noexcept {
    // A guard page, then slots of 1, 2, ... pages, each with a guard page after it.
    return (1 + (pages - 1) * pages / 2 + (pages - 1)) * kPageBytes;
  }
  static constexpr std::size_t large_begin() noexcept { return slot_begin(kSlotCount + 1); }
  std::size_t large_end() const noexcept { return region_bytes() - kPageBytes; }
  std::size_t region_bytes() const noexcept;
  std::size_t region_begin(Region region) const noexcept { return static_cast<std::size_t>(region) * region_bytes(); }
  std::size_t file_bytes() const noexcept { return kRegionCount * region_bytes(); }
  std::byte* map(int protection) const;
  void unmap() noexcept;
  void permit_pages(std::byte* view, int protection) const;
  void move_guards(Region region, const Placement& placement, bool accessible) const noexcept;

  std::size_t capacity_bytes_;
  int descriptor_ = -1;
  std::byte* open_ = nullptr;
  std::byte* writable_ = nullptr;
  std::byte* read_only_ = nullptr;
};

}  // namespace kvwitness::harness

#endif  // PROPERTIES_SANDBOX_FRAME_MEMORY_H
