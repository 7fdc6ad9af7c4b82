// Raw calls against refusal_rule.h: the status, the message, and what the call wrote.
#include <kvwitness/backend.h>
#include <kvwitness/kvwitness.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/c_functions/c_function.h"
#include "fuzz/c_functions/refusal_rule.h"
#include "fuzz/finding.h"
#include "fuzz/mutators/raw_call_mutator.h"
#include "fuzz/target.h"
#include "fuzz/under_test.h"
#include "kernels/src/plan.h"
#include "properties/case/status.h"

namespace kvwitness::fuzz {
namespace {

struct alignas(64) Arena {
  std::array<std::uint8_t, kArenaBytes> bytes{};
};

struct Result {
  CallResult returned;
  std::string message;  // afterwards
  std::string message_before;
};

class Caller {
 public:
  explicit Caller(const RawCall& call) : call_(call) {
    for (std::size_t i = 0; i < kArenaBytes && !call.fill.empty(); ++i) {
      arena_.bytes[i] = call.fill[i % call.fill.size()];
    }
    before_ = arena_;
  }

  const Arena& before() const { return before_; }
  const Arena& after() const { return arena_; }

  Result make() {
    const CFunction& function = function_of(call_);
    const auto message = [&]() -> std::string {
      return function.is_cuda() ? under_test(kernels::last_error)() : under_test(kvw_last_error)();
    };
    if (function.environment != nullptr) {
      setenv(function.environment, call_.text.c_str(), 1);
    }
    Result result;
    result.message_before = message();
    result.returned = function.call(function, call_, arena_.bytes.data());
    result.message = message();
    return result;
  }

 private:
  const RawCall& call_;
  Arena arena_;
  Arena before_;
};

// A legal call reads and writes for real, so what it reaches must lie in the arena, aligned, and it must end soon.
bool can_be_made(const RawCall& call, const Ruling& ruling) {
  const CFunction& function = function_of(call);
  const bool affordable =
      function.is_affordable == nullptr || ruling.status != harness::status::kOk || function.is_affordable(call);
  const auto inside = [](const Reach& reach) {
    return reach.bytes == 0 ||
           (reach.pointer != RawCall::kNull && reach.pointer % reach.element_bytes == 0 && reach.bytes <= kArenaBytes &&
            static_cast<std::size_t>(reach.pointer) + static_cast<std::size_t>(reach.bytes) <= kArenaBytes);
  };
  // A refusal that says what it needs writes that.
  const bool is_count_aligned = !ruling.count || call.pointers[kLens] % 8 == 0;
  return affordable && is_count_aligned && std::ranges::all_of(ruling.reads, inside) &&
         std::ranges::all_of(ruling.writes, inside);
}

std::vector<std::string_view> runnable_backends() {
  std::vector<std::string_view> names;
  for (const Backend* const backend : backends()) {
    if (backend->runnable()) {
      names.emplace_back(backend->name);
    }
  }
  return names;
}

// Ruling::says.
bool is_said(std::string_view message, const std::vector<std::string>& pieces) {
  if (!message.starts_with(pieces.front()) || !message.ends_with(pieces.back())) {
    return false;
  }
  std::size_t at = 0;
  for (const std::string& piece : pieces) {
    const std::size_t found = message.find(piece, at);
    if (found == std::string_view::npos) {
      return false;
    }
    at = found + (pieces.size() > 1 ? piece.size() : 0);
  }
  return pieces.size() > 1 || message == pieces.front();
}

class CallJudge {
 public:
  CallJudge(const RawCall& call, const Ruling& ruling)
      : subject_(function_of(call).name), ruling_(ruling), call_(call) {}

  void status_and_message(const Result& result) const {
    if (result.returned.status != ruling_.status) {
      broken("refusal", "status " + std::string(harness::status_name(result.returned.status)) + " instead of " +
                            std::string(harness::status_name(ruling_.status)) + " (" + std::string(ruling_.argument) +
                            ")");
    }
    if (ruling_.status == harness::status::kOk && result.message != result.message_before) {
      broken("success_leaves_the_message", "a success left the message \"" + result.message + "\"");
    }
    if (ruling_.status != harness::status::kOk && !is_said(result.message, ruling_.says)) {
      std::string wanted;
      for (const std::string& piece : ruling_.says) {
        wanted.append(wanted.empty() ? "" : " ... ").append(piece);
      }
      broken("message_is_whole", "\"" + result.message + "\" does not say \"" + wanted + "\"");
    }
    if (result.returned.launches != ruling_.launches) {
      broken("launches", result.returned.launches ? "something would be launched" : "nothing would be launched");
    }
  }

  // Bytes outside what a legal call writes, and all of them for a refused one, but for *count.
  void bytes(const Arena& before, const Arena& after) const {
    std::array<bool, kArenaBytes> may_change{};
    for (const Reach& reach : ruling_.writes) {
      std::fill_n(may_change.begin() + std::max(reach.pointer, 0), static_cast<std::size_t>(reach.bytes), true);
    }
    if (ruling_.count) {
      const auto at = static_cast<std::size_t>(call_.pointers[kLens]);
      std::int64_t count = 0;
      std::memcpy(&count, after.bytes.data() + at, sizeof count);
      if (count != *ruling_.count) {
        broken("count_of_a_small_buffer", std::to_string(count) + " instead of " + std::to_string(*ruling_.count));
      }
      std::fill_n(may_change.begin() + static_cast<std::ptrdiff_t>(at), sizeof count, true);
    }
    for (std::size_t i = 0; i < kArenaBytes; ++i) {
      if (before.bytes[i] != after.bytes[i] && !may_change[i]) {
        broken(ruling_.status == harness::status::kOk ? "bounds" : "refused_writes_nothing",
               "byte " + std::to_string(i) + " of the arena changed");
      }
    }
  }

  [[noreturn]] void broken(std::string_view invariant, std::string what) const {
    report_finding({"refusals", invariant, subject_, std::move(what)});
  }

 private:
  std::string_view subject_;
  const Ruling& ruling_;
  const RawCall& call_;
};

// set_backend also changes what is in use; the next input finds it as this one did.
void judge_backend_in_use(const RawCall& call, const Result& result, const std::string& before,
                          const CallJudge& judge) {
  const std::string_view now = under_test(kvw_backend)();
  if (result.returned.status != KVW_OK ? now != before : !call.text.empty() && now != call.text) {
    judge.broken("backend_in_use", std::string(now));
  }
  under_test(kvw_set_backend)(nullptr);
}

int judge_input(const std::uint8_t* data, std::size_t size) {
  static const std::vector<std::string_view> kBackends = runnable_backends();
  static const std::uint8_t kSetBackend = function_number("kvw_set_backend");
  const RawCall call = decode_raw_call({data, size});
  const Ruling ruling = ruling_of(call, kBackends);
  if (!can_be_made(call, ruling)) {
    return -1;
  }
  const std::string backend = under_test(kvw_backend)();
  Caller caller(call);
  const Result result = caller.make();
  const CallJudge judge(call, ruling);
  judge.status_and_message(result);
  judge.bytes(caller.before(), caller.after());
  if (call.function == kSetBackend) {
    judge_backend_in_use(call, result, backend, judge);
  }
  return 0;
}

}  // namespace

namespace targets {
extern const Target refusals = {
    .name = "refusals",
    .judges =
        "raw calls of the C ABI and of the CUDA library's host checks, with any counts and with null, overlapping or "
        "out-of-order pointers: the right code, a whole message that names the argument, its value and the limit, and "
        "not a byte written",
    .body = judge_input,
    .form = &kRawCallForm,
    .mutator = &kRawCallMutator,
    .test_runs = 30000,
    .finds =
        "refused_scatter_writes keep_before_segments overlap_of_the_last_slots one_row_stride_unchecked "
        "off_switch_checks null_lengths_at_topk_zero count_forgotten product_wraps strided_span_unchecked "
        "message_names_nothing length_of_2_to_31 mask_one_byte_short gate_takes_a_blank "
        "lengths_count_rounded_down message_cut_at_32 message_cut_at_64 message_cut_at_96 message_number_of_32_bits "
        "message_without_its_limit overlap_of_1_in_front overlap_of_4_in_front overlap_of_7_in_front "
        "overlap_of_1_behind overlap_of_3_behind overlap_of_4_behind overlap_inside",
};
}  // namespace targets

}  // namespace kvwitness::fuzz
