// The backends of a build without Highway.
#include "lib/src/scalar.h"
#include "lib/src/simd/compiled_in.h"

namespace kvwitness::detail {
namespace {

constexpr const Backend* kCompiledIn[] = {&kScalarBackend};

}  // namespace

std::span<const Backend* const> compiled_in_backends() noexcept {
  return kCompiledIn;
}

}  // namespace kvwitness::detail
