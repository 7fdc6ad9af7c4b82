// The vector backends that this build holds: one body (vector_row_pass-inl.h), compiled by Highway once for each
// instruction set.
#ifndef LIB_SRC_SIMD_VECTOR_BACKENDS_H
#define LIB_SRC_SIMD_VECTOR_BACKENDS_H

#include <span>

#include "kvwitness/backend.h"

namespace kvwitness::detail {

// Best first; empty where the compiler or the architecture offers none. Constant-initialised, so it may be read at any
// time.
std::span<const Backend* const> vector_backends() noexcept;

}  // namespace kvwitness::detail

#endif  // LIB_SRC_SIMD_VECTOR_BACKENDS_H
