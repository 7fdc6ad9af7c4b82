// What a fuzzing engine calls, for one target: KVWITNESS_FUZZ_TARGET names it.
#include <cstddef>
#include <cstdint>

#include "fuzz/engine/linked_target.h"

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

namespace kvwitness::fuzz {

namespace targets {
extern const Target KVWITNESS_FUZZ_TARGET;
}

const Target& linked_target() {
  return targets::KVWITNESS_FUZZ_TARGET;
}

}  // namespace kvwitness::fuzz

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
  return kvwitness::fuzz::linked_target().body(data, size);
}

}  // extern "C"
