#include "kernels/simt/src/fault_signals.h"

#include <ucontext.h>

#include "kernels/simt/src/block.h"

namespace kvwitness::simt::detail {
namespace {

// One launch runs at a time, so its handlers can be kept here.
alignas(16) char handler_stack[64 * 1024];
struct sigaction previous_segv, previous_bus, previous_ill;

const void* instruction_of(const void* machine_state) noexcept {
  const auto* const state = static_cast<const ucontext_t*>(machine_state);
#if defined(__x86_64__)
  return reinterpret_cast<const void*>(state->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return reinterpret_cast<const void*>(state->uc_mcontext.pc);
#else
  static_cast<void>(state);
  return nullptr;
#endif
}

// Leaves the handler by a switch to the launching thread, never to come back: the faulty thread's fiber is abandoned.
void handle(int signal_number, siginfo_t* information, void* machine_state) {
  if (Thread* const self = running_thread(); self != nullptr) {
    const bool has_address = information->si_code == SEGV_MAPERR || information->si_code == SEGV_ACCERR;
    self->owner->fail(*self,
                      self->owner->classify_signal(*self, information->si_addr, signal_number == SIGSEGV && has_address,
                                                   instruction_of(machine_state), signal_number == SIGILL));
  }
  // Not a kernel's access: the former handler, or the default, meets the same instruction again.
  sigaction(signal_number,
            signal_number == SIGSEGV  ? &previous_segv
            : signal_number == SIGBUS ? &previous_bus
                                      : &previous_ill,
            nullptr);
}

}  // namespace

FaultSignals::FaultSignals() {
  struct sigaction action = {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  sigaction(SIGILL, &action, &previous_ill);
  if (under_tsan() || under_asan() || under_msan()) {
    return;  // whose reports of bad addresses are their own
  }
  stack_t stack = {};
  stack.ss_sp = handler_stack;
  stack.ss_size = sizeof(handler_stack);
  sigaltstack(&stack, &previous_stack_);
  action.sa_flags |= SA_ONSTACK;
  sigaction(SIGSEGV, &action, &previous_segv);
  sigaction(SIGBUS, &action, &previous_bus);
  installed_ = true;
}

FaultSignals::~FaultSignals() {
  sigaction(SIGILL, &previous_ill, nullptr);
  if (installed_) {
    sigaction(SIGSEGV, &previous_segv, nullptr);
    sigaction(SIGBUS, &previous_bus, nullptr);
    sigaltstack(&previous_stack_, nullptr);
  }
}

}  // namespace kvwitness::simt::detail
