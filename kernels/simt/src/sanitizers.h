// The entry points of the sanitizer runtimes, found at link time: weak, so that one build of the executor serves
// programs with either runtime or none. The executor itself is never instrumented, for its own bookkeeping would be
// reported as races of the kernel.
#ifndef KVWITNESS_KERNELS_SIMT_SRC_SANITIZERS_H
#define KVWITNESS_KERNELS_SIMT_SRC_SANITIZERS_H

#include <cstddef>
#include <cstdint>

extern "C" {
// <sanitizer/tsan_interface.h>
[[gnu::weak]] void* __tsan_get_current_fiber();
[[gnu::weak]] void* __tsan_create_fiber(unsigned flags);
[[gnu::weak]] void __tsan_destroy_fiber(void* fiber);
[[gnu::weak]] void __tsan_switch_to_fiber(void* fiber, unsigned flags);
[[gnu::weak]] void __tsan_set_fiber_name(void* fiber, const char* name);
[[gnu::weak]] void __tsan_acquire(void* object);
[[gnu::weak]] void __tsan_release(void* object);
// Defined by the third version of the runtime (Clang 14, GCC 13) and not by the second.
[[gnu::weak]] void __sanitizer_cov_load1(std::uint8_t* address);
// Java's heap interface (tsan_interface_java.h), for the one thing that nothing else offers: to forget what was
// recorded of a range.
[[gnu::weak]] void __tsan_java_alloc(std::uintptr_t address, std::uintptr_t bytes);
[[gnu::weak]] void __tsan_java_free(std::uintptr_t address, std::uintptr_t bytes);
[[gnu::weak]] void __tsan_func_entry(void* caller);
[[gnu::weak]] void __tsan_func_exit();
[[gnu::weak]] std::uint8_t __tsan_atomic8_load(const volatile std::uint8_t* address, int order);
[[gnu::weak]] std::uint8_t __tsan_atomic8_fetch_or(volatile std::uint8_t* address, std::uint8_t value, int order);
[[gnu::weak]] std::uint16_t __tsan_atomic16_load(const volatile std::uint16_t* address, int order);
[[gnu::weak]] std::uint16_t __tsan_atomic16_fetch_or(volatile std::uint16_t* address, std::uint16_t value, int order);
[[gnu::weak]] std::uint32_t __tsan_atomic32_load(const volatile std::uint32_t* address, int order);
[[gnu::weak]] std::uint32_t __tsan_atomic32_fetch_or(volatile std::uint32_t* address, std::uint32_t value, int order);
[[gnu::weak]] std::uint64_t __tsan_atomic64_load(const volatile std::uint64_t* address, int order);
[[gnu::weak]] std::uint64_t __tsan_atomic64_fetch_or(volatile std::uint64_t* address, std::uint64_t value, int order);
[[gnu::weak]] void __tsan_read1(void* address);
[[gnu::weak]] void __tsan_read2(void* address);
[[gnu::weak]] void __tsan_read4(void* address);
[[gnu::weak]] void __tsan_read8(void* address);
[[gnu::weak]] void __tsan_read16(void* address);
[[gnu::weak]] void __tsan_write1(void* address);
[[gnu::weak]] void __tsan_write2(void* address);
[[gnu::weak]] void __tsan_write4(void* address);
[[gnu::weak]] void __tsan_write8(void* address);
[[gnu::weak]] void __tsan_write16(void* address);
// <sanitizer/msan_interface.h>
[[gnu::weak]] void __msan_poison(const volatile void* address, std::size_t bytes);
[[gnu::weak]] void __msan_scoped_disable_interceptor_checks();
[[gnu::weak]] void __msan_unpoison(const volatile void* address, std::size_t bytes);
// <sanitizer/common_interface_defs.h>, <sanitizer/asan_interface.h>
[[gnu::weak]] void __sanitizer_start_switch_fiber(void** fake_stack, const void* bottom, std::size_t bytes);
[[gnu::weak]] void __sanitizer_finish_switch_fiber(void* fake_stack, const void** bottom, std::size_t* bytes);
[[gnu::weak]] void __asan_poison_memory_region(const volatile void* address, std::size_t bytes);
[[gnu::weak]] void __asan_unpoison_memory_region(const volatile void* address, std::size_t bytes);
}

namespace kvwitness::simt::detail {

inline bool under_tsan() noexcept {
  return __tsan_create_fiber != nullptr;
}
inline bool tsan_has_slots() noexcept {
  return under_tsan() && __sanitizer_cov_load1 != nullptr;
}
inline bool under_asan() noexcept {
  return __asan_poison_memory_region != nullptr;
}

inline bool under_msan() noexcept {
  return __msan_poison != nullptr;
}
// What the executor writes is not instrumented, so MemorySanitizer must be told.
inline void msan_unpoison(const void* address, std::size_t bytes) noexcept {
  if (under_msan()) {
    __msan_unpoison(address, bytes);
  }
}
inline void msan_poison(const void* address, std::size_t bytes) noexcept {
  if (under_msan() && bytes != 0) {
    __msan_poison(address, bytes);
  }
}

inline void tsan_acquire(void* object) noexcept {
  if (under_tsan()) {
    __tsan_acquire(object);
  }
}
inline void tsan_release(void* object) noexcept {
  if (under_tsan()) {
    __tsan_release(object);
  }
}

// Forgets every access to the range, so that shared memory of one block is not compared with that of the next at the
// same address.
inline void tsan_forget(void* address, std::size_t bytes) noexcept {
  if (under_tsan() && bytes != 0) {
    constexpr std::uintptr_t kGranule = 8;
    const auto first = reinterpret_cast<std::uintptr_t>(address) & ~(kGranule - 1);
    const auto end = (reinterpret_cast<std::uintptr_t>(address) + bytes + kGranule - 1) & ~(kGranule - 1);
    __tsan_java_free(first, end - first);
    __tsan_java_alloc(first, end - first);
    __tsan_java_free(first, end - first);
  }
}

// Called through pointers that the compiler must read, so that a program without AddressSanitizer holds no call of its
// functions: fuzzing services disassemble a program to see how it was built.
using MarkRange = void (*)(const volatile void* address, std::size_t bytes);
inline const volatile MarkRange poison_range = __asan_poison_memory_region;
inline const volatile MarkRange unpoison_range = __asan_unpoison_memory_region;

inline void asan_poison(const void* address, std::size_t bytes) noexcept {
  if (under_asan() && bytes != 0) {
    poison_range(address, bytes);
  }
}
inline void asan_unpoison(const void* address, std::size_t bytes) noexcept {
  if (under_asan() && bytes != 0) {
    unpoison_range(address, bytes);
  }
}

}  // namespace kvwitness::simt::detail

#endif  // KVWITNESS_KERNELS_SIMT_SRC_SANITIZERS_H
