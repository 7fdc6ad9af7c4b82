// What the compilers' instrumentation calls and no sanitizer's runtime answers: volatile accesses under ThreadSanitizer
// (tsan-distinguish-volatile), and, brought here by the link option --wrap, MemorySanitizer's finding and those of
// UndefinedBehaviorSanitizer's checks of alignments and array indices, whose runtime is not linked.
#include "kernels/simt/src/block.h"

namespace kvwitness::simt::detail {
namespace {

// A volatile access to global memory is CUDA's way to poll, and relaxed (PTX ISA, "ld.volatile"). One to shared memory
// is what remains of code that was written for warps in lockstep, and a plain access.
bool is_relaxed(Thread* self, const void* address) noexcept {
  if (self == nullptr || self->owner->is_shared(address)) {
    return false;
  }
  const auto* const at = static_cast<const std::byte*>(address);
  const auto* const bottom = static_cast<const std::byte*>(self->context.stack_bottom);
  return at < bottom || at >= bottom + self->context.stack_bytes;
}

}  // namespace
}  // namespace kvwitness::simt::detail

#define KVWITNESS_SIMT_VOLATILE(bits, bytes)                                                                     \
  void __tsan_volatile_read##bytes(void* address) {                                                              \
    using namespace kvwitness::simt::detail;                                                                     \
    if (!is_relaxed(running_thread(), address)) {                                                                \
      return __tsan_read##bytes(address);                                                                        \
    }                                                                                                            \
    before_volatile_read();                                                                                      \
    __tsan_func_entry(__builtin_return_address(0));                                                              \
    static_cast<void>(__tsan_atomic##bits##_load(static_cast<std::uint##bits##_t*>(address), __ATOMIC_RELAXED)); \
    __tsan_func_exit();                                                                                          \
    after_atomic(address);                                                                                       \
  }                                                                                                              \
  void __tsan_volatile_write##bytes(void* address) {                                                             \
    using namespace kvwitness::simt::detail;                                                                     \
    if (!is_relaxed(running_thread(), address)) {                                                                \
      return __tsan_write##bytes(address);                                                                       \
    }                                                                                                            \
    before_atomic(address);                                                                                      \
    __tsan_func_entry(__builtin_return_address(0));                                                              \
    static_cast<void>(                                                                                           \
        __tsan_atomic##bits##_fetch_or(static_cast<std::uint##bits##_t*>(address), 0, __ATOMIC_RELAXED));        \
    __tsan_func_exit();                                                                                          \
  }                                                                                                              \
  void __tsan_unaligned_volatile_read##bytes(void* address) {                                                    \
    __tsan_volatile_read##bytes(address);                                                                        \
  }                                                                                                              \
  void __tsan_unaligned_volatile_write##bytes(void* address) {                                                   \
    __tsan_volatile_write##bytes(address);                                                                       \
  }

namespace kvwitness::simt::detail {
namespace {
void before_volatile_read() {
  relinquish();
}
}  // namespace
}  // namespace kvwitness::simt::detail

// The runtimes' own names.
#pragma GCC diagnostic ignored "-Wmissing-declarations"
extern "C" {
KVWITNESS_SIMT_VOLATILE(8, 1)
KVWITNESS_SIMT_VOLATILE(16, 2)
KVWITNESS_SIMT_VOLATILE(32, 4)
KVWITNESS_SIMT_VOLATILE(64, 8)
void __tsan_volatile_read16(void* address) {
  __tsan_read16(address);
}
void __tsan_volatile_write16(void* address) {
  __tsan_write16(address);
}

// Findings outside of a kernel come from what the program calls that is not instrumented: the C++ library, say.
void __wrap___msan_warning() {
  using namespace kvwitness::simt;
  if (detail::Thread* const self = detail::running_thread(); self != nullptr) {
    self->owner->fail(*self, {.kind = Fault::Kind::kUninitialised,
                              .thread = self,
                              .text = "uses memory that nobody wrote",
                              .instruction = static_cast<const char*>(__builtin_return_address(0)) - 1});
  }
}

void __wrap___ubsan_handle_type_mismatch_v1(void*, void* address) {
  using namespace kvwitness::simt;
  if (detail::Thread* const self = detail::running_thread(); self != nullptr) {
    self->owner->fail(*self, {.kind = Fault::Kind::kMisaligned,
                              .thread = self,
                              .text = "accesses an address that is no multiple of the type's alignment",
                              .address = address,
                              .instruction = static_cast<const char*>(__builtin_return_address(0)) - 1});
  }
}
// A narrow index comes by value.
void __wrap___ubsan_handle_out_of_bounds(void*, void* index) {
  using namespace kvwitness::simt;
  if (detail::Thread* const self = detail::running_thread(); self != nullptr) {
    self->owner->fail(*self, {.kind = Fault::Kind::kOutOfBounds,
                              .thread = self,
                              .text = "accesses an element past the end of an array",
                              .instruction = static_cast<const char*>(__builtin_return_address(0)) - 1,
                              .view_index = static_cast<long long>(reinterpret_cast<std::intptr_t>(index)),
                              .view_count = detail::RawFault::kArray});
  }
}
}
