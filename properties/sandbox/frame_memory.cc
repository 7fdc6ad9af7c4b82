#include "properties/sandbox/frame_memory.h"

#include <fcntl.h>
#include <kvwitness/assertions.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "properties/sandbox/system_calls.h"

namespace kvwitness::harness {
namespace {

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

constexpr std::size_t round_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

}  // namespace

FrameMemory::FrameMemory(std::size_t capacity_bytes) : capacity_bytes_(round_up(capacity_bytes, kPageBytes)) {
  descriptor_ = make_unnamed_file(file_bytes());
  try {
    open_ = map(PROT_READ | PROT_WRITE);
  } catch (...) {
    close(descriptor_);
    throw;
  }
}

FrameMemory::FrameMemory(int descriptor, std::size_t capacity_bytes)
    : capacity_bytes_(capacity_bytes), descriptor_(descriptor) {}

FrameMemory::FrameMemory(FrameMemory&& other) noexcept
    : capacity_bytes_(other.capacity_bytes_),
      descriptor_(std::exchange(other.descriptor_, -1)),
      open_(std::exchange(other.open_, nullptr)),
      writable_(std::exchange(other.writable_, nullptr)),
      read_only_(std::exchange(other.read_only_, nullptr)) {}

FrameMemory::~FrameMemory() {
  unmap();
  if (descriptor_ >= 0) {
    close(descriptor_);
  }
}

std::size_t FrameMemory::region_bytes() const noexcept {
  // The large stretch leaves a page for the alignment, and one for the guard in front of the largest buffer; the last
  // page is a guard.
  return large_begin() + capacity_bytes_ + 3 * kPageBytes;
}

std::byte* FrameMemory::map(int protection) const {
  void* const view = mmap(nullptr, file_bytes(), protection, MAP_SHARED | MAP_NORESERVE, descriptor_, 0);
  if (view == MAP_FAILED) {
    fail("mmap of the frame memory");
  }
  return static_cast<std::byte*>(view);
}

void FrameMemory::unmap() noexcept {
  for (std::byte* const view : {open_, writable_, read_only_}) {
    if (view != nullptr) {
      munmap(view, file_bytes());
    }
  }
}

Placement FrameMemory::place(std::size_t span_bytes, std::size_t offset_bytes, bool guard_in_front) const noexcept {
  KVWITNESS_ASSERT(span_bytes <= capacity_bytes_ && offset_bytes < kAlignBytes, span_bytes, capacity_bytes_,
                   offset_bytes);
  // How far the buffer must stay from the guard page after it so that its base has the offset, modulo 64:
  //   end - tail - span = offset
  const std::size_t tail = (2 * kAlignBytes - (span_bytes + offset_bytes) % kAlignBytes) % kAlignBytes;
  const std::size_t occupied_bytes = span_bytes + (guard_in_front ? offset_bytes : tail);
  const std::size_t pages = std::max<std::size_t>(1, round_up(occupied_bytes, kPageBytes) / kPageBytes);
  Placement placement;
  placement.span_bytes = span_bytes;
  placement.pages_begin = pages <= kSlotCount ? slot_begin(pages) : large_end() - pages * kPageBytes;
  placement.pages_end = placement.pages_begin + pages * kPageBytes;
  placement.first = guard_in_front ? placement.pages_begin + offset_bytes : placement.pages_end - tail - span_bytes;
  return placement;
}

void FrameMemory::permit_pages(std::byte* view, int protection) const {
  for (std::size_t region = 0; region < kRegionCount; ++region) {
    std::byte* const begin = view + region * region_bytes();
    for (std::size_t pages = 1; pages <= kSlotCount; ++pages) {
      if (mprotect(begin + slot_begin(pages), pages * kPageBytes, protection) != 0) {
        fail("mprotect of the frame memory");
      }
    }
    if (mprotect(begin + large_begin(), large_end() - large_begin(), protection) != 0) {
      fail("mprotect of the frame memory");
    }
  }
}

void FrameMemory::map_guarded() {
  writable_ = map(PROT_NONE);
  read_only_ = map(PROT_NONE);
  permit_pages(writable_, PROT_READ | PROT_WRITE);
  permit_pages(read_only_, PROT_READ);
}

void FrameMemory::move_guards(Region region, const Placement& placement, bool accessible) const noexcept {
  if (placement.pages_begin < large_begin()) {
    return;
  }
  // The guard after it is the region's last page, which stays; a failure leaves the buffer without the guard before it,
  // no worse.
  const std::size_t guard = placement.pages_begin - kPageBytes;
  mprotect(guarded(region, true) + guard, kPageBytes, accessible ? PROT_READ | PROT_WRITE : PROT_NONE);
  mprotect(guarded(region, false) + guard, kPageBytes, accessible ? PROT_READ : PROT_NONE);
}

void FrameMemory::keep_from_children() const noexcept {
  madvise(open_, file_bytes(), MADV_DONTFORK);
}

std::optional<FrameMemory::Location> FrameMemory::locate(const void* address) const noexcept {
  for (const std::byte* const view : {writable_, read_only_}) {
    const auto begin = reinterpret_cast<std::uintptr_t>(view);
    const auto position = reinterpret_cast<std::uintptr_t>(address);
    if (view != nullptr && position >= begin && position - begin < file_bytes()) {
      const std::size_t offset = position - begin;
      return Location{.region = static_cast<Region>(offset / region_bytes()),
                      .offset = offset % region_bytes(),
                      .read_only = view == read_only_};
    }
  }
  return std::nullopt;
}

void FrameMemory::release(Region region, const Placement& placement) const noexcept {
  if (placement.pages_begin < large_begin()) {
    return;
  }
  // A file system that cannot punch holes only keeps the memory for longer.
  static_cast<void>(fallocate(descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                              static_cast<off_t>(region_begin(region) + placement.pages_begin),
                              static_cast<off_t>(placement.pages_end - placement.pages_begin)));
}

}  // namespace kvwitness::harness
