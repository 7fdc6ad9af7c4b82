// A fiber with a stack of its own, announced to the sanitizer at hand.
#ifndef KVWITNESS_KERNELS_SIMT_SRC_FIBER_H
#define KVWITNESS_KERNELS_SIMT_SRC_FIBER_H

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>
#include <cstdint>

#include "kernels/simt/src/sanitizers.h"

namespace kvwitness::simt::detail {

// The machine state of a thread of execution: a fiber's, or that of the operating system's thread that a launch came
// from.
struct Context {
  boost::context::detail::fcontext_t machine = nullptr;  // while another context runs
  void* tsan_fiber = nullptr;
  void* asan_fake_stack = nullptr;
  const void* stack_bottom = nullptr;  // the lowest address
  std::size_t stack_bytes = 0;
};

// Gives the processor from one context to another; returns when some context switches back. ThreadSanitizer is told not
// to synchronise the two (flag 1): with synchronisation, every race between two threads of a block would count as
// ordered.
inline void switch_context(Context& from, Context& to) noexcept {
  if (under_tsan()) {
    __tsan_switch_to_fiber(to.tsan_fiber, 1);
  } else if (under_asan()) {
    __sanitizer_start_switch_fiber(&from.asan_fake_stack, to.stack_bottom, to.stack_bytes);
  }
  const boost::context::detail::transfer_t transfer = boost::context::detail::jump_fcontext(to.machine, &from);
  auto* const previous = static_cast<Context*>(transfer.data);
  previous->machine = transfer.fctx;
  if (under_asan()) {
    const void* bottom = nullptr;
    std::size_t bytes = 0;
    __sanitizer_finish_switch_fiber(from.asan_fake_stack, &bottom, &bytes);
    if (previous->stack_bottom == nullptr) {  // the launching thread's own stack, which only the sanitizer knows
      previous->stack_bottom = bottom;
      previous->stack_bytes = bytes;
    }
  }
}

// The first thing that a fiber's entry function does with what it was given.
inline void enter_context(boost::context::detail::transfer_t transfer) noexcept {
  auto* const previous = static_cast<Context*>(transfer.data);
  previous->machine = transfer.fctx;
  if (under_asan()) {
    const void* bottom = nullptr;
    std::size_t bytes = 0;
    __sanitizer_finish_switch_fiber(nullptr, &bottom, &bytes);
    if (previous->stack_bottom == nullptr) {
      previous->stack_bottom = bottom;
      previous->stack_bytes = bytes;
    }
  }
}

using FiberEntry = void (*)(boost::context::detail::transfer_t);

// Maps a stack (once) and makes the context start `entry` at the next switch to it. Called again for a fiber that was
// abandoned in the middle of a kernel: what it had on its stack is lost.
void start_fiber(Context& context, std::uint32_t index, FiberEntry entry);

// Whether the address lies in the inaccessible page below a fiber's stack.
bool overflows_stack(const Context& context, const void* address) noexcept;

}  // namespace kvwitness::simt::detail

#endif  // KVWITNESS_KERNELS_SIMT_SRC_FIBER_H
