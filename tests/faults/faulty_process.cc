#include "tests/faults/faulty_process.h"

#include <alloca.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cfenv>
#include <chrono>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <limits>
#include <thread>

#include "tests/faults/faulty_row.h"

namespace kvwitness::faults {
namespace {

using std::int32_t;
using std::int64_t;

bool has_length(const Arguments& call, int32_t len) {
  return std::find(call.context_lens, call.context_lens + call.rows, len) != call.context_lens + call.rows;
}

void copy_to_stack(const Arguments& call) {
  const auto size = static_cast<std::size_t>(call.rows * call.topk) * sizeof(int32_t);
  void* const copy = alloca(size + 1);
  static_cast<volatile char*>(copy)[0] = 0;  // the far end of the stack
}

[[noreturn]] void never_end() {
  for (;;) {
    std::this_thread::sleep_for(std::chrono::hours(1));
  }
}

// The rounding mode belongs to the process: a call that needs another one must put it back.
void change_rounding(const Arguments& call) {
  const bool is_long =
      std::any_of(call.context_lens, call.context_lens + call.rows, [](int32_t len) { return len > 1 << 30; });
  if (is_long) std::fesetround(FE_UPWARD);
}

}  // namespace

void misbehave(const Arguments& call) {
  switch (chosen_entry().fault) {
    case Fault::throws_a_number:
      if (call.topk > 0 &&
          std::count(call.learned, call.learned + call.topk, std::numeric_limits<int32_t>::max()) > 0 &&
          call.rows > 0) {
        throw 7;
      }
      return;
    case Fault::peeks_behind_lengths:
      return static_cast<void>(static_cast<const volatile int32_t*>(call.context_lens)[call.rows]);
    case Fault::lengths_by_fours:
      if (reinterpret_cast<std::uintptr_t>(call.context_lens) % 16 != 0 && call.rows >= 4) std::raise(SIGSEGV);
      return;
    case Fault::indices_on_the_stack:
      if (call.kind == Kind::kWitnesses && call.num_segments > 1 << 20) std::raise(SIGSEGV);  // what a full stack gives
      return;
    case Fault::peeks_without_rows:
      if (call.rows == 0) static_cast<void>(static_cast<const volatile int32_t*>(call.context_lens)[0]);
      return;
    case Fault::batch_on_the_stack:
      return copy_to_stack(call);
    case Fault::endless_at_2_20:
      return has_length(call, 1 << 20) ? never_end() : void();
    case Fault::stops_itself:
      if (call.num_segments == 1) std::raise(SIGSTOP);
      return;
    case Fault::forks_and_returns:
      if (call.rows == 7) static_cast<void>(fork());
      return;
    case Fault::kills_its_group:
      if (call.topk == 0) kill(0, SIGKILL);
      return;
    case Fault::rounding_left:
      return change_rounding(call);
    case Fault::right_of_20_ms:
      return std::this_thread::sleep_for(std::chrono::milliseconds(20));
    case Fault::right_printing:
      std::printf("a call with %lld rows\n", static_cast<long long>(call.rows));
      return;
    case Fault::right_closing:
      return static_cast<void>(close_range(3, ~0U, 0));
    case Fault::right_in_another_locale:
      std::setlocale(LC_ALL, "C.UTF-8");
      errno = EINVAL;
      umask(0777);
      return static_cast<void>(!chdir("/"));
    default:
      return;
  }
}

int32_t refused_for_nothing(const Arguments& call) {
  switch (chosen_entry().fault) {
    case Fault::no_rows_refused:
      return call.rows == 0 ? 1 : 0;
    case Fault::no_slots_refused:
      return call.topk == 0 ? 1 : 0;
    case Fault::no_budget_refused:
      return call.kind == Kind::kApply && call.max_replacements == 0 ? 4 : 0;
    case Fault::large_budget_refused:
      return call.kind == Kind::kApply && call.max_replacements > call.topk ? 3 : 0;
    case Fault::declines_by_status:
      return call.topk > 1024 ? 10 : 0;
    default:
      return 0;
  }
}

}  // namespace kvwitness::faults
