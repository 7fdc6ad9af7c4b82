#include "kernels/simt/src/fiber.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <new>

namespace kvwitness::simt::detail {
namespace {

// A sanitizer's own functions run on the stack of the thread that they report.
std::size_t stack_size_bytes() noexcept {
  return under_tsan() || under_asan() || under_msan() ? std::size_t{512} << 10 : std::size_t{64} << 10;
}

std::size_t page_bytes() noexcept {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

void map_stack(Context& context) {
  const std::size_t guard = page_bytes(), bytes = stack_size_bytes();
  void* const mapping = mmap(nullptr, guard + bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (mapping == MAP_FAILED || mprotect(mapping, guard, PROT_NONE) != 0) {
    throw std::bad_alloc();
  }
  context.stack_bottom = static_cast<std::byte*>(mapping) + guard;
  context.stack_bytes = bytes;
}

void make_tsan_fiber(Context& context, std::uint32_t index) {
  if (context.tsan_fiber != nullptr) {
    __tsan_destroy_fiber(context.tsan_fiber);
  }
  context.tsan_fiber = __tsan_create_fiber(0);
  char name[32];
  std::snprintf(name, sizeof(name), "CUDA thread %u", index);
  __tsan_set_fiber_name(context.tsan_fiber, name);
}

}  // namespace

void start_fiber(Context& context, std::uint32_t index, FiberEntry entry) {
  if (context.stack_bottom == nullptr) {
    map_stack(context);
  }
  if (under_tsan()) {
    make_tsan_fiber(context, index);
  }
  asan_unpoison(context.stack_bottom, context.stack_bytes);
  context.asan_fake_stack = nullptr;
  // Stacks lie a power of two apart, so equal depths would compete for one set of each cache; staggered tops spread
  // them.
  const std::size_t stagger_bytes = std::size_t{index % 64} * 128;
  auto* const bottom = static_cast<std::byte*>(const_cast<void*>(context.stack_bottom));
  context.machine = boost::context::detail::make_fcontext(bottom + context.stack_bytes - stagger_bytes,
                                                          context.stack_bytes - stagger_bytes, entry);
}

bool overflows_stack(const Context& context, const void* address) noexcept {
  if (context.stack_bottom == nullptr || context.stack_bytes == 0) {
    return false;
  }
  const auto* const bottom = static_cast<const std::byte*>(context.stack_bottom);
  const auto* const at = static_cast<const std::byte*>(address);
  return at >= bottom - page_bytes() && at < bottom;
}

}  // namespace kvwitness::simt::detail
