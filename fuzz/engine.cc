// What a fuzzing engine calls, for one target: KVWITNESS_FUZZ_TARGET names it. KVWITNESS_FUZZ_BY_BYTES leaves the
// mutation of cases out, for comparison.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "fuzz/case_mutator.h"
#include "fuzz/targets.h"

#define KVWITNESS_FUZZ_JOIN_(a, b) a##b
#define KVWITNESS_FUZZ_JOIN(a, b) KVWITNESS_FUZZ_JOIN_(a, b)

#if defined(__SANITIZE_THREAD__)
#define KVWITNESS_FUZZ_THREAD_SANITIZER
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define KVWITNESS_FUZZ_THREAD_SANITIZER
#endif
#endif
#if defined(KVWITNESS_FUZZ_THREAD_SANITIZER)
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#endif

namespace {

// ThreadSanitizer keeps a signal back until its thread makes a call that the runtime knows, which a kernel on the
// executor, or a runtime that waits for itself, never does. So the system ends the program at SIGTERM, and the engine's
// handler, which only prints statistics, is taken away behind the runtime's back.
void let_sigterm_end_the_program() {
#if defined(KVWITNESS_FUZZ_THREAD_SANITIZER)
  static bool done = false;
  if (!done) {
    done = true;
    struct {
      void (*handler)(int) = SIG_DFL;
      unsigned long rest[8] = {};
    } action;
    constexpr std::size_t kMaskBytes = 8;
    syscall(SYS_rt_sigaction, SIGTERM, &action, nullptr, kMaskBytes);
  }
#endif
}

}  // namespace

extern "C" {

#if defined(KVWITNESS_FUZZ_THREAD_SANITIZER)
// A finding aborts, and the engine handles that signal with functions that no handler may call. Reported under
// halt_on_error=1, that ends the program with the runtime's locks held, and what the engine does at the end then waits
// for them for ever.
const char* __tsan_default_options();
const char* __tsan_default_options() {
  return "report_signal_unsafe=0";
}
#endif

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  let_sigterm_end_the_program();
  return KVWITNESS_FUZZ_JOIN(fuzz_, KVWITNESS_FUZZ_TARGET)(data, size);
}

#if defined(KVWITNESS_FUZZ_FORM) && !defined(KVWITNESS_FUZZ_BY_BYTES)

// The engine's own; this one takes its place where the engine has none (a replayer), and is not called there.
__attribute__((weak)) std::size_t LLVMFuzzerMutate(std::uint8_t*, std::size_t size, std::size_t) {
  return size;
}

// One mutation in eight is the engine's own, on the bytes: malformed encodings are worth reading too.
std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size, unsigned int seed) {
  using namespace kvwitness::fuzz;
  if (seed % 8 != 0) {
    const std::vector<std::uint8_t> mutated =
        mutate_input(InputForm::KVWITNESS_FUZZ_FORM, {data, size}, max_size, seed);
    if (!mutated.empty()) {
      std::ranges::copy(mutated, data);
      return mutated.size();
    }
  }
  return LLVMFuzzerMutate(data, size, max_size);
}

std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* data1, std::size_t size1, const std::uint8_t* data2,
                                      std::size_t size2, std::uint8_t* out, std::size_t max_out_size,
                                      unsigned int seed) {
  using namespace kvwitness::fuzz;
  const std::vector<std::uint8_t> child =
      cross_inputs(InputForm::KVWITNESS_FUZZ_FORM, {data1, size1}, {data2, size2}, max_out_size, seed);
  std::ranges::copy(child, out);
  return child.size();
}

#endif

}  // extern "C"
