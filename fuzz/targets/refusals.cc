// Raw calls against refusal_rule.h: the status, the message, and what the call wrote.
#include <kvwitness/backend.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/c_functions/raw_call.h"
#include "fuzz/c_functions/refusal_rule.h"
#include "fuzz/finding.h"
#include "fuzz/mutators/raw_call_mutator.h"
#include "fuzz/target.h"
#include "fuzz/under_test.h"
#include "properties/case/status.h"

namespace kvwitness::fuzz {
namespace {

constexpr std::array<std::string_view, kFunctionCount> kNames = {
    "kvw_witness_indices",
    "kvw_apply",
    "kvw_scatter",
    "kvw_scatter_strided",
    "kvw_context_lens_from_windows",
    "kvw_context_lens_from_requests",
    "kvw_segments_from_environment",
    "kvw_random_null",
    "kvw_locality_null",
    "kvw_select_mask_random",
    "kvw_select_mask_local",
    "kvw_segment_coverage",
    "kvw_attention_mass_recall",
    "kvw_set_backend",
    "kvw_cuda_witness_indices",
    "kvw_cuda_apply",
    "kvw_cuda_scatter",
};

constexpr const char* kGateVariable = "VLLM_SPARSE_MLA_TOPOLOGY_SEGMENTS";

struct alignas(64) Arena {
  std::array<std::uint8_t, kArenaBytes> bytes{};
};

struct Result {
  std::int32_t status;
  std::string message;  // afterwards
  std::string message_before;
  bool launches = false;
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
    const bool cuda = call_.function >= Function::kCudaWitnessIndices;
    const auto message = [cuda] { return std::string(cuda ? c_abi().cuda_last_error() : c_abi().last_error()); };
    Result result;
    result.message_before = message();
    result.status = cuda ? call_cuda(result.launches) : call_host();
    result.message = message();
    return result;
  }

 private:
  template <typename T>
  T* at(PointerIndex index) {
    const std::int32_t offset = call_.pointers[index];
    return offset == RawCall::kNull ? nullptr : reinterpret_cast<T*>(arena_.bytes.data() + offset);
  }
  std::int64_t count(CountIndex index) const { return call_.counts[index]; }

  kvw_status call_host();
  kvw_status call_cuda(bool& launches);

  const RawCall& call_;
  Arena arena_;
  Arena before_;
};

kvw_status Caller::call_host() {
  const CAbi& abi = c_abi();
  auto* const learned = at<std::int32_t>(kLearned);
  const auto* const lens = at<std::int32_t>(kLens);
  auto* const out = at<std::int32_t>(kOut);
  switch (call_.function) {
    case Function::kWitnessIndices:
      return abi.witness_indices(learned, count(kLen), count(kTopk), lens, count(kRows), count(kSegments), out);
    case Function::kApply:
      return abi.apply(learned, count(kLen), count(kTopk), lens, count(kRows), count(kKeep), count(kSegments),
                       count(kReplacements), out);
    case Function::kScatter:
      return abi.scatter(learned, count(kLen), count(kTopk), lens, count(kRows), count(kSegments));
    case Function::kScatterStrided:
      return abi.scatter_strided(learned, count(kStride), count(kTopk), lens, count(kRows), count(kSegments));
    case Function::kLensFromWindows:
      return abi.context_lens_from_windows(learned, lens, count(kRows), out);
    case Function::kLensFromRequests:
      return abi.context_lens_from_requests(learned, count(kTopk), count(kRows), out);
    case Function::kGate:
      return abi.segments_from_environment(at<std::int64_t>(kLearned));
    case Function::kRandomNull:
      return abi.random_null(count(kTopk), count(kRows), call_.seed, learned, count(kLen), at<std::int64_t>(kLens));
    case Function::kLocalityNull:
      return abi.locality_null(count(kTopk), count(kRows), learned, count(kLen), at<std::int64_t>(kLens));
    case Function::kMaskRandom:
      return abi.select_mask_random(count(kTopk), count(kRows), call_.seed, at<std::uint8_t>(kLearned), count(kLen));
    case Function::kMaskLocal:
      return abi.select_mask_local(count(kTopk), count(kRows), at<std::uint8_t>(kLearned), count(kLen));
    case Function::kCoverage:
      return abi.segment_coverage(learned, count(kLen), count(kTopk), count(kSegments), at<double>(kOut));
    case Function::kRecall:
      return abi.attention_mass_recall(learned, count(kLen), at<double>(kLens), count(kTopk), at<double>(kOut));
    default:
      return abi.set_backend(call_.text.empty() ? nullptr : call_.text.c_str());
  }
}

kvw_status Caller::call_cuda(bool& launches) {
  const CAbi& abi = c_abi();
  auto* const learned = at<std::int32_t>(kLearned);
  auto* const out = at<std::int32_t>(kOut);
  const kvw_cuda_lengths described{at<std::int32_t>(kLens), at<std::int32_t>(kStarts), count(kLengthsCount),
                                   count(kLengthsStride), count(kLengthsNextN)};
  const kvw_cuda_lengths* const lengths = call_.pointers[kLengthsStruct] == RawCall::kNull ? nullptr : &described;
  if (call_.function == Function::kCudaWitnessIndices) {
    kernels::IndicesPlan plan;
    const kvw_status status = abi.plan_witness_indices(learned, count(kLen), count(kStride), count(kTopk), lengths,
                                                       count(kRows), count(kSegments), out, count(kOutLen), plan);
    launches = plan.few.has_value() || plan.many.has_value();
    return status;
  }
  kernels::MergePlan plan;
  const kvw_status status =
      call_.function == Function::kCudaApply
          ? abi.plan_apply(learned, count(kLen), count(kStride), count(kTopk), lengths, count(kRows), count(kKeep),
                           count(kSegments), count(kReplacements), out, count(kOutLen), count(kOutStride), plan)
          : abi.plan_scatter(learned, count(kLen), count(kStride), count(kTopk), lengths, count(kRows),
                             count(kSegments), plan);
  launches = plan.has_value();
  return status;
}

// A legal call reads and writes for real, so what it reaches must lie in the arena; the metrics also work through their
// counts.
bool can_be_made(const RawCall& call, const Ruling& ruling) {
  constexpr std::int64_t kMostSegments = 1 << 20;
  const bool affordable = call.function != Function::kCoverage || ruling.status != harness::status::kOk ||
                          std::min(call.counts[kTopk], call.counts[kSegments]) <= kMostSegments;
  const auto inside = [](const Reach& reach) {
    return reach.bytes == 0 ||
           (reach.pointer != RawCall::kNull && reach.bytes <= kArenaBytes &&
            static_cast<std::size_t>(reach.pointer) + static_cast<std::size_t>(reach.bytes) <= kArenaBytes);
  };
  return affordable && std::ranges::all_of(ruling.reads, inside) && std::ranges::all_of(ruling.writes, inside);
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

class Judge {
 public:
  Judge(const RawCall& call, const Ruling& ruling)
      : subject_(kNames[static_cast<std::size_t>(call.function)]), ruling_(ruling), call_(call) {}

  void status_and_message(const Result& result) const {
    if (result.status != ruling_.status) {
      broken("refusal", "status " + std::string(harness::status_name(result.status)) + " instead of " +
                            std::string(harness::status_name(ruling_.status)) + " (" + std::string(ruling_.argument) +
                            ")");
    }
    if (ruling_.status == harness::status::kOk && result.message != result.message_before) {
      broken("success_leaves_the_message", "a success left the message \"" + result.message + "\"");
    }
    if (ruling_.status != harness::status::kOk && result.message.find(ruling_.argument) == std::string::npos) {
      broken("message_names_the_argument", "\"" + result.message + "\" does not name " + std::string(ruling_.argument));
    }
    if (result.launches != ruling_.launches) {
      broken("launches", result.launches ? "something would be launched" : "nothing would be launched");
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

int judge_input(const std::uint8_t* data, std::size_t size) {
  static const std::vector<std::string_view> kBackends = runnable_backends();
  const RawCall call = decode_raw_call({data, size});
  const Ruling ruling = ruling_of(call, kBackends);
  if (!can_be_made(call, ruling)) {
    return -1;
  }
  if (call.function == Function::kGate) {
    setenv(kGateVariable, call.text.c_str(), 1);
  }
  const std::string backend = c_abi().backend();
  Caller caller(call);
  const Result result = caller.make();
  const Judge judge(call, ruling);
  judge.status_and_message(result);
  judge.bytes(caller.before(), caller.after());
  if (call.function == Function::kSetBackend) {
    const std::string_view now = c_abi().backend();
    if (result.status != KVW_OK ? now != backend : !call.text.empty() && now != call.text) {
      judge.broken("backend_in_use", std::string(now));
    }
    c_abi().set_backend(nullptr);
  }
  return 0;
}

}  // namespace

namespace targets {
extern const Target refusals = {
    .name = "refusals",
    .judges =
        "raw calls of the C ABI and of the CUDA library's host checks, with any counts and with null, overlapping or "
        "out-of-order pointers: the right code, a message that names the argument, and not a byte written",
    .body = judge_input,
    .form = &kRawCallForm,
    .mutator = &kRawCallMutator,
    .test_runs = 30000,
    .finds =
        "refused_scatter_writes keep_before_segments overlap_of_the_last_slots one_row_stride_unchecked "
        "off_switch_checks null_lengths_at_topk_zero count_forgotten product_wraps strided_span_unchecked "
        "message_names_nothing length_of_2_to_31 mask_one_byte_short gate_takes_a_blank "
        "lengths_count_rounded_down",
};
}  // namespace targets

}  // namespace kvwitness::fuzz
