// Null models, masks, metrics and length helpers against their definitions, in arithmetic of their own.
#include <kvwitness/kvwitness.h>
#include <kvwitness/oracle.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/finding.h"
#include "fuzz/inputs/metrics_call.h"
#include "fuzz/target.h"
#include "fuzz/under_test.h"

namespace kvwitness::fuzz {
namespace {

using Tokens = std::vector<std::int32_t>;

constexpr std::int32_t kCanary = 0x5EED5EED;

[[noreturn]] void broken(std::string_view invariant, std::string_view subject, std::string what) {
  report_finding({"metrics_nulls", invariant, subject, std::move(what)});
}

void expect_ok(kvw_status status, std::string_view subject) {
  if (status != KVW_OK) {
    broken("legal_call_succeeds", subject, "status " + std::to_string(status) + ": " + under_test(kvw_last_error)());
  }
}

// One step of splitmix64 (Steele, Lea, Flood 2014).
std::uint64_t mix(std::uint64_t z) {
  z += 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

// The selector Random{budget, seed} at one row: the pool [0, row] is shuffled from the front, and only what moved is
// kept.
Tokens random_row(std::uint64_t row, std::uint64_t budget, std::uint64_t seed) {
  std::map<std::uint64_t, std::uint64_t> moved;
  const auto at = [&](std::uint64_t slot) { return moved.contains(slot) ? moved[slot] : slot; };
  Tokens drawn;
  std::uint64_t state = mix(seed ^ (row * 0x9E3779B97F4A7C15u));
  for (std::uint64_t slot = 0; slot < std::min(budget, row + 1); ++slot) {
    state = mix(state);
    const std::uint64_t pick = slot + state % (row + 1 - slot);
    const std::uint64_t token = at(pick);
    moved[pick] = at(slot);
    drawn.push_back(static_cast<std::int32_t>(token));
  }
  std::ranges::sort(drawn);
  return drawn;
}

Tokens local_row(std::int64_t row, std::uint64_t window) {
  const auto taken = static_cast<std::int64_t>(
      std::min<std::uint64_t>(std::max<std::uint64_t>(window, 1), static_cast<std::uint64_t>(row) + 1));
  Tokens tokens(static_cast<std::size_t>(taken));
  std::iota(tokens.begin(), tokens.end(), static_cast<std::int32_t>(row + 1 - taken));
  return tokens;
}

// A capacity for what is needed: just enough, a little more, or one whose low halves say less.
std::int64_t room_for(std::int64_t needed, std::uint64_t choice) {
  switch (choice % 6) {
    case 3:
      return std::int64_t{1} << 31;
    case 4:
      return std::int64_t{1} << 32;
    case 5:
      return std::numeric_limits<std::int64_t>::max();
    default:
      return needed + static_cast<std::int64_t>(choice % 6);
  }
}

// ---- The null models: exactly the tokens of the definition, and nothing behind them.

constexpr std::uint64_t kMostDrawn = 4096;
constexpr std::int64_t kShort = 256;

void judge_null(const MetricsCall& input, bool random) {
  const std::string_view subject = random ? "kvw_random_null" : "kvw_locality_null";
  const auto context_len = static_cast<std::int64_t>(input.first % (std::uint64_t{1} << 31));
  // Of a short context any budget, of a longer one what is drawn soon, or a little more than the length.
  const std::uint64_t budget = input.second % 2 != 0 && context_len <= kShort ? input.second / 2
                               : context_len <= static_cast<std::int64_t>(kMostDrawn)
                                   ? input.second / 2 % (2 * kMostDrawn)
                                   : input.second / 2 % kMostDrawn;
  Tokens wanted;
  if (budget > 0 && context_len > 0) {
    wanted = random ? random_row(static_cast<std::uint64_t>(context_len) - 1, budget, input.seed)
                    : local_row(context_len - 1, budget);
  }
  const std::int64_t room = room_for(std::ssize(wanted), input.seed);
  Tokens offsets(wanted.size() + 4, kCanary);
  std::int64_t count = -1;
  expect_ok(random ? under_test(kvw_random_null)(context_len, static_cast<std::int64_t>(budget), input.seed,
                                                 offsets.data(), room, &count)
                   : under_test(kvw_locality_null)(context_len, static_cast<std::int64_t>(budget), offsets.data(), room,
                                                   &count),
            subject);
  if (count != static_cast<std::int64_t>(wanted.size())) {
    broken("null_count", subject, std::to_string(count) + " offsets instead of " + std::to_string(wanted.size()));
  }
  if (!std::ranges::equal(wanted, std::span(offsets).first(wanted.size()))) {
    broken("null_tokens", subject,
           "other tokens than the definition's at length " + std::to_string(context_len) + ", budget " +
               std::to_string(budget));
  }
  if (std::ranges::count(std::span(offsets).last(4), kCanary) != 4) {
    broken("bounds", subject, "an element behind the offsets changed");
  }
}

// ---- The masks: every row of the selector.

void judge_mask(const MetricsCall& input, bool random) {
  constexpr std::uint64_t kMostTokens = 48;
  constexpr std::uint8_t kUntouched = 0xA5;
  const std::string_view subject = random ? "kvw_select_mask_random" : "kvw_select_mask_local";
  const auto seq = static_cast<std::int64_t>(input.first % kMostTokens);
  // A budget may be any number up to INT64_MAX; small ones are the interesting half.
  const auto budget = static_cast<std::int64_t>(input.second % 2 == 0 ? input.second / 2 % 64 : input.second / 2);
  std::vector<std::uint8_t> mask(static_cast<std::size_t>(seq * seq) + 3, kUntouched);
  const std::int64_t mask_len = room_for(seq * seq, input.seed);
  expect_ok(random ? under_test(kvw_select_mask_random)(seq, budget, input.seed, mask.data(), mask_len)
                   : under_test(kvw_select_mask_local)(seq, budget, mask.data(), mask_len),
            subject);
  std::vector<std::uint8_t> wanted(static_cast<std::size_t>(seq * seq), 0);
  for (std::int64_t row = 0; row < seq; ++row) {
    const Tokens tokens =
        random ? random_row(static_cast<std::uint64_t>(row), static_cast<std::uint64_t>(budget), input.seed)
               : local_row(row, static_cast<std::uint64_t>(budget));
    for (const std::int32_t token : tokens) {
      wanted[static_cast<std::size_t>(row * seq + token)] = 1;
    }
  }
  wanted.insert(wanted.end(), 3, kUntouched);
  if (mask != wanted) {
    broken("mask", subject,
           "another mask than the definition's at seq " + std::to_string(seq) + ", budget " + std::to_string(budget));
  }
}

// ---- The metrics

void judge_coverage(const MetricsCall& input) {
  constexpr std::uint64_t kMostSegments = 100'000;
  const auto context_len = static_cast<std::int64_t>(input.first % (std::uint64_t{1} << 31));
  const auto num_segments = static_cast<std::int64_t>(
      context_len <= static_cast<std::int64_t>(kMostSegments) && input.second % 2 != 0 ? input.second >> 1
                                                                                       : input.second % kMostSegments);
  double wanted = 1;
  if (context_len > 0 && num_segments > 0) {
    std::set<std::int64_t> covered;
    for (const std::int32_t token : input.candidates) {
      if (token >= 0 && token < context_len) {
        covered.insert(harness::oracle_segment(token, context_len, num_segments));
      }
    }
    wanted = static_cast<double>(covered.size()) /
             static_cast<double>(harness::oracle_effective_segments(context_len, num_segments));
  }
  double coverage = -1;
  expect_ok(under_test(kvw_segment_coverage)(input.candidates.data(), std::ssize(input.candidates), context_len,
                                             num_segments, &coverage),
            "kvw_segment_coverage");
  if (coverage != wanted) {
    broken("coverage_value", "kvw_segment_coverage",
           std::to_string(coverage) + " instead of " + std::to_string(wanted));
  }
}

void judge_recall(const MetricsCall& input) {
  const auto context_len = std::ssize(input.attention);
  const std::set<std::int32_t> distinct(input.candidates.begin(), input.candidates.end());
  long double total = 0;
  long double selected = 0;
  for (std::int64_t token = 0; token < context_len; ++token) {
    const double value = input.attention[static_cast<std::size_t>(token)];
    total += value;
    selected += distinct.contains(static_cast<std::int32_t>(token)) ? value : 0;
  }
  double recall = -1;
  expect_ok(under_test(kvw_attention_mass_recall)(input.candidates.data(), std::ssize(input.candidates),
                                                  input.attention.data(), context_len, &recall),
            "kvw_attention_mass_recall");
  const bool undefined = std::isnan(total) || total == 0;
  const auto wanted = undefined ? 0 : static_cast<double>(selected / total);
  if (std::isnan(recall) != undefined || (!undefined && std::abs(recall - wanted) > 1e-12 * wanted)) {
    broken("recall_value", "kvw_attention_mass_recall",
           std::to_string(recall) + " instead of " + (undefined ? "NaN" : std::to_string(wanted)));
  }
}

// ---- Arithmetic and lengths

void judge_segment_of(const MetricsCall& input) {
  const std::uint64_t token = input.first;
  const std::uint64_t context_len = std::max<std::uint64_t>(input.second, 1);
  const std::uint64_t effective = std::min(input.seed, context_len);
  const auto wanted = static_cast<std::uint64_t>(static_cast<unsigned __int128>(token) * effective / context_len);
  const std::uint64_t segment = under_test(kvw_segment_of)(token, input.second, input.seed);
  if (segment != wanted) {
    broken("segment_of", "kvw_segment_of",
           std::to_string(segment) + " instead of " + std::to_string(wanted) + " for token " + std::to_string(token) +
               ", L " + std::to_string(input.second) + ", S " + std::to_string(input.seed));
  }
}

std::int32_t clamped(std::int64_t length) {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(length, INT32_MIN, INT32_MAX));
}

void expect_lengths(std::string_view subject, const Tokens& lengths, Tokens wanted) {
  wanted.push_back(kCanary);
  if (lengths != wanted) {
    broken("context_lens", subject, "other lengths than the definition's");
  }
}

void judge_windows(const MetricsCall& input) {
  const auto half = static_cast<std::ptrdiff_t>(input.candidates.size() / 2);
  const Tokens starts(input.candidates.begin(), input.candidates.begin() + half);
  const Tokens ends(input.candidates.begin() + half, input.candidates.begin() + 2 * half);
  Tokens lengths(starts.size() + 1, kCanary);
  expect_ok(under_test(kvw_context_lens_from_windows)(starts.data(), ends.data(), half, lengths.data()),
            "kvw_context_lens_from_windows");
  Tokens wanted;
  for (std::size_t row = 0; row < starts.size(); ++row) {
    wanted.push_back(clamped(std::int64_t{ends[row]} - starts[row]));
  }
  expect_lengths("kvw_context_lens_from_windows", lengths, std::move(wanted));
}

void judge_requests(const MetricsCall& input) {
  const Tokens& seq_lens = input.candidates;
  // Without requests any number of tokens to a request has no lengths.
  const auto next_n =
      static_cast<std::int64_t>(seq_lens.empty() ? std::max<std::uint64_t>(input.first >> 1, 1) : 1 + input.first % 9);
  Tokens wanted;
  for (const std::int32_t seq_len : seq_lens) {
    for (std::int64_t index = 0; index < next_n; ++index) {
      wanted.push_back(clamped(std::int64_t{seq_len} - next_n + index + 1));
    }
  }
  Tokens lengths(wanted.size() + 1, kCanary);
  expect_ok(under_test(kvw_context_lens_from_requests)(seq_lens.data(), std::ssize(seq_lens), next_n, lengths.data()),
            "kvw_context_lens_from_requests");
  expect_lengths("kvw_context_lens_from_requests", lengths, std::move(wanted));
}

int judge_input(const std::uint8_t* data, std::size_t size) {
  const MetricsCall input = decode_metrics_call({data, size});
  switch (input.function) {
    case MetricsFunction::kRandomNull:
    case MetricsFunction::kLocalityNull:
      judge_null(input, input.function == MetricsFunction::kRandomNull);
      break;
    case MetricsFunction::kMaskRandom:
    case MetricsFunction::kMaskLocal:
      judge_mask(input, input.function == MetricsFunction::kMaskRandom);
      break;
    case MetricsFunction::kSegmentCoverage:
      judge_coverage(input);
      break;
    case MetricsFunction::kAttentionMassRecall:
      judge_recall(input);
      break;
    case MetricsFunction::kSegmentOf:
      judge_segment_of(input);
      break;
    case MetricsFunction::kLensFromWindows:
      judge_windows(input);
      break;
    default:
      judge_requests(input);
      break;
  }
  return 0;
}

}  // namespace

namespace targets {
extern const Target metrics_nulls = {
    .name = "metrics_nulls",
    .judges = "null models, masks, metrics and length helpers against their definitions, in arithmetic of its own",
    .body = judge_input,
    .form = &kMetricsCallForm,
    .test_runs = 30000,
    .finds =
        "null_row_unsorted seed_of_63_bits budget_above_length coverage_counts_the_end coverage_counts_twice "
        "recall_in_float recall_counts_twice mask_row_of_zero window_wraps segment_of_wraps "
        "random_budget_of_32_bits local_budget_of_32_bits capacity_of_32_bits count_of_32_bits "
        "mask_budget_of_32_bits mask_window_of_32_bits mask_len_of_32_bits coverage_segments_of_32_bits "
        "segment_of_32_bits next_n_of_32_bits",
};
}  // namespace targets

}  // namespace kvwitness::fuzz
