// What operator new of this program does: counts, and fails from a size on.
#ifndef TESTS_LIB_ALLOCATOR_H
#define TESTS_LIB_ALLOCATOR_H

#include <atomic>
#include <cstddef>

namespace kvwitness {

extern std::atomic<std::size_t> allocation_count;
extern std::atomic<std::size_t> refused_bytes;  // an allocation of this size or more fails; SIZE_MAX at the start

}  // namespace kvwitness

#endif  // TESTS_LIB_ALLOCATOR_H
