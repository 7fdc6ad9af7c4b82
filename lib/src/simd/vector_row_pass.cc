// The row pass on vectors, for every instruction set: Highway includes this file once for each of them, and each time
// it includes the body.
#include "lib/src/simd/compiled_in.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/src/simd/vector_row_pass.cc"
// The instruction sets of the table below, and what Highway compiles for any machine. Releases differ in what they have
// beyond (1.0.3 variants of SVE for one register width, 1.0.7 SSE2 and finer tiers of AVX-512), none of which would be
// used.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS \
  (~(HWY_SCALAR | HWY_EMU128 | HWY_SSSE3 | HWY_SSE4 | HWY_AVX2 | HWY_AVX3 | HWY_NEON | HWY_SVE | HWY_SVE2))
#endif
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kvwitness/segments.h"
#include "lib/src/backend_contract.h"
#include "lib/src/row.h"
#include "lib/src/scalar.h"

#define KVWITNESS_TIER HWY_NAMESPACE
#define KVWITNESS_TIER_HAS_IFMA 0
HWY_BEFORE_NAMESPACE();
#include "lib/src/simd/vector_row_pass-inl.h"
HWY_AFTER_NAMESPACE();
#undef KVWITNESS_TIER
#undef KVWITNESS_TIER_HAS_IFMA

// Highway's own tier above AVX3 asks for seven extensions more, and not for IFMA.
#if HWY_TARGET == HWY_AVX3
#define KVWITNESS_TIER N_AVX3_IFMA
#define KVWITNESS_TIER_HAS_IFMA 1
HWY_PUSH_ATTRIBUTES(HWY_TARGET_STR ",avx512ifma,avx512vbmi")
#include "lib/src/simd/vector_row_pass-inl.h"
HWY_AFTER_NAMESPACE();
#undef KVWITNESS_TIER
#undef KVWITNESS_TIER_HAS_IFMA
#endif

#if HWY_ONCE

#if HWY_ARCH_ARM_A64
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace kvwitness::detail {
namespace {

#if HWY_ARCH_X86

#if HWY_TARGETS & HWY_SSSE3
const char* why_not_ssse3() noexcept {
  return __builtin_cpu_supports("ssse3") ? nullptr : "this processor lacks SSSE3";
}
constexpr Backend kSsse3{"ssse3", why_not_ssse3, N_SSSE3::write_rows_of_witness_indices, N_SSSE3::apply_to_rows};
#endif

#if HWY_TARGETS & HWY_SSE4
const char* why_not_sse4() noexcept {
  const bool runs =
      __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("aes") && __builtin_cpu_supports("pclmul");
  return runs ? nullptr : "this processor lacks SSE4.2, AES or PCLMUL";
}
constexpr Backend kSse4{"sse4", why_not_sse4, N_SSE4::write_rows_of_witness_indices, N_SSE4::apply_to_rows};
#endif

#if HWY_TARGETS & HWY_AVX2
bool has_avx2() noexcept {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
         __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c") && __builtin_cpu_supports("aes") &&
         __builtin_cpu_supports("pclmul");
}
const char* why_not_avx2() noexcept {
  return has_avx2() ? nullptr : "this processor lacks AVX2, BMI, BMI2, FMA, F16C, AES or PCLMUL";
}
constexpr Backend kAvx2{"avx2", why_not_avx2, N_AVX2::write_rows_of_witness_indices, N_AVX2::apply_to_rows};
#endif

#if HWY_TARGETS & HWY_AVX3
bool has_avx512() noexcept {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd");
}
const char* why_not_avx512() noexcept {
  return has_avx512() ? nullptr : "this processor lacks AVX2 or one of AVX-512 F, VL, DQ, BW and CD";
}
constexpr Backend kAvx512{"avx512", why_not_avx512, N_AVX3::write_rows_of_witness_indices, N_AVX3::apply_to_rows};

const char* why_not_avx512_ifma() noexcept {
  if (!has_avx512()) {
    return why_not_avx512();
  }
  const bool runs = __builtin_cpu_supports("avx512ifma") && __builtin_cpu_supports("avx512vbmi");
  return runs ? nullptr : "this processor lacks AVX-512 IFMA or VBMI";
}
constexpr Backend kAvx512Ifma{"avx512_ifma", why_not_avx512_ifma, N_AVX3_IFMA::write_rows_of_witness_indices,
                              N_AVX3_IFMA::apply_to_rows};
#endif

#elif HWY_ARCH_ARM_A64

#if HWY_TARGETS & HWY_NEON
const char* why_not_neon() noexcept {
  return (getauxval(AT_HWCAP) & HWCAP_AES) != 0 ? nullptr : "this processor lacks AES";
}
constexpr Backend kNeon{"neon", why_not_neon, N_NEON::write_rows_of_witness_indices, N_NEON::apply_to_rows};
#endif

#if HWY_TARGETS & HWY_SVE
const char* why_not_sve() noexcept {
  return (getauxval(AT_HWCAP) & HWCAP_SVE) != 0 ? nullptr : "this processor lacks SVE";
}
constexpr Backend kSve{"sve", why_not_sve, N_SVE::write_rows_of_witness_indices, N_SVE::apply_to_rows};
#endif

#if HWY_TARGETS & HWY_SVE2
const char* why_not_sve2() noexcept {
  const bool runs = (getauxval(AT_HWCAP2) & HWCAP2_SVE2) != 0 && (getauxval(AT_HWCAP2) & HWCAP2_SVEAES) != 0;
  return runs ? nullptr : "this processor lacks SVE2 or its AES";
}
constexpr Backend kSve2{"sve2", why_not_sve2, N_SVE2::write_rows_of_witness_indices, N_SVE2::apply_to_rows};
#endif

#endif

constexpr const Backend* kCompiledIn[] = {
#if HWY_TARGETS & HWY_AVX3
    &kAvx512Ifma,    &kAvx512,
#endif
#if HWY_TARGETS & HWY_AVX2
    &kAvx2,
#endif
#if HWY_TARGETS & HWY_SSE4
    &kSse4,
#endif
#if HWY_TARGETS & HWY_SSSE3
    &kSsse3,
#endif
#if HWY_TARGETS & HWY_SVE2
    &kSve2,
#endif
#if HWY_TARGETS & HWY_SVE
    &kSve,
#endif
#if HWY_TARGETS & HWY_NEON
    &kNeon,
#endif
    &kScalarBackend,
};

}  // namespace

std::span<const Backend* const> compiled_in_backends() noexcept {
  return kCompiledIn;
}

}  // namespace kvwitness::detail

#endif  // HWY_ONCE
