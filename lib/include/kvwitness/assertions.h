// KVWITNESS_ASSERT(condition, values...): a precondition that debug, sanitizer and fuzz builds check.
//
// Where the condition is false, the file, the line, the condition and the values (numbers; there may be
// none) go to standard error and the process is aborted; in device code the kernel traps. A condition in a
// constant expression that is false does not compile.
//
// Off unless KVWITNESS_ASSERTIONS is defined as 1, and then no code at all: neither the condition nor the
// values are evaluated. This project's builds define it where they want it (cmake/kvwitness_targets.cmake).
// Whoever includes an installed header gets it switched off and needs no flag.
//
// C++17, for host compilers, nvcc and the CPU executor alike.
#ifndef KVWITNESS_ASSERTIONS_H
#define KVWITNESS_ASSERTIONS_H

#if defined(__CUDACC__)
#define KVWITNESS_HOST_DEVICE __host__ __device__
#else
#define KVWITNESS_HOST_DEVICE
#endif

#ifndef KVWITNESS_ASSERTIONS
#define KVWITNESS_ASSERTIONS 0
#endif

#if KVWITNESS_ASSERTIONS

#include <cstdio>
#include <cstdlib>
#include <type_traits>

namespace kvwitness::detail {

// `text` is the macro's arguments as written: the condition, then the values.
template <class... Values>
[[noreturn]] KVWITNESS_HOST_DEVICE void assertion_failed(const char* file, int line, const char* text,
                                                         Values... values) noexcept {
#if defined(__CUDA_ARCH__)
  printf("%s:%d: assertion failed: %s:", file, line, text);
  (printf(std::is_signed_v<Values> ? " %lld" : " %llu", static_cast<unsigned long long>(values)), ...);
  printf("\n");
  __trap();
#else
  std::fprintf(stderr, "%s:%d: assertion failed: %s:", file, line, text);
  (std::fprintf(stderr, std::is_signed_v<Values> ? " %lld" : " %llu", static_cast<unsigned long long>(values)), ...);
  std::fputc('\n', stderr);
  std::abort();
#endif
}

template <class... Values>
KVWITNESS_HOST_DEVICE constexpr void check_assertion(const char* file, int line, const char* text, bool holds,
                                                     Values... values) noexcept {
  if (!holds) {
    assertion_failed(file, line, text, values...);
  }
}

}  // namespace kvwitness::detail

#define KVWITNESS_ASSERT(...) ::kvwitness::detail::check_assertion(__FILE__, __LINE__, #__VA_ARGS__, __VA_ARGS__)

#else

#define KVWITNESS_ASSERT(...) static_cast<void>(0)

#endif  // KVWITNESS_ASSERTIONS

#endif  // KVWITNESS_ASSERTIONS_H
