// The backends that this build holds. With Highway, one body (vector_row_pass-inl.h) is compiled once for each
// instruction set.
#ifndef LIB_SRC_SIMD_COMPILED_IN_H
#define LIB_SRC_SIMD_COMPILED_IN_H

#include <span>

#include "kvwitness/backend.h"

namespace kvwitness::detail {

// Best first; the last is "scalar". Constant-initialised, so it may be read at any time.
std::span<const Backend* const> compiled_in_backends() noexcept;

}  // namespace kvwitness::detail

#endif  // LIB_SRC_SIMD_COMPILED_IN_H
