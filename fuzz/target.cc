#include "fuzz/target.h"

#include <algorithm>
#include <array>

namespace kvwitness::fuzz {
namespace {

constexpr std::array kTargets = {
    Target{"case_file", fuzz_case_file, InputForm::kText},
    Target{"cuda_differential", fuzz_cuda_differential, InputForm::kScheduledCase},
    Target{"differential", fuzz_differential, InputForm::kCase},
    Target{"invariants", fuzz_invariants, InputForm::kCase},
    Target{"metrics_nulls", fuzz_metrics_nulls, InputForm::kBytes},
    Target{"refusals", fuzz_refusals, InputForm::kRawCall},
    Target{"canary", fuzz_canary, InputForm::kCase},
};

}  // namespace

std::span<const Target> all_targets() {
  return std::span(kTargets).first<kTargets.size() - 1>();
}

const Target* find_target(std::string_view name) {
  const auto* const found = std::ranges::find(kTargets, name, &Target::name);
  return found == kTargets.end() ? nullptr : found;
}

}  // namespace kvwitness::fuzz
