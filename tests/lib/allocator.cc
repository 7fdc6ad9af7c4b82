#include "tests/lib/allocator.h"

#include <cstdint>
#include <cstdlib>
#include <new>

namespace kvwitness {

constinit std::atomic<std::size_t> allocation_count = 0;
constinit std::atomic<std::size_t> refused_bytes = SIZE_MAX;

}  // namespace kvwitness

void* operator new(std::size_t bytes) {
  ++kvwitness::allocation_count;
  void* const memory = bytes >= kvwitness::refused_bytes ? nullptr : std::malloc(bytes);
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  return memory;
}

void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
