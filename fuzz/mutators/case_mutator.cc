#include "fuzz/mutators/case_mutator.h"

#include <kvwitness/oracle.h>

#include <algorithm>
#include <array>
#include <limits>

#include "fuzz/inputs/scheduled_case.h"

namespace kvwitness::fuzz {
namespace {

using harness::Case;
using harness::Operation;

constexpr std::int64_t kMostTopk = 700;
constexpr std::size_t kMostRows = 12;
constexpr std::size_t kMostPriorCalls = 3;

class CaseMutator {
 public:
  CaseMutator(Case& value, Random& random) : value_(value), random_(random) {}

  void change() {
    static constexpr std::array<void (CaseMutator::*)(), 22> kChanges = {
        &CaseMutator::one_token,   &CaseMutator::one_token, &CaseMutator::one_token,   &CaseMutator::some_tokens,
        &CaseMutator::cover_row,   &CaseMutator::cover_row, &CaseMutator::arrange_row, &CaseMutator::pad_row,
        &CaseMutator::length,      &CaseMutator::length,    &CaseMutator::length,      &CaseMutator::copy_row,
        &CaseMutator::drop_row,    &CaseMutator::move_row,  &CaseMutator::width,       &CaseMutator::segments,
        &CaseMutator::segments,    &CaseMutator::budget,    &CaseMutator::operation,   &CaseMutator::placement,
        &CaseMutator::prior_calls, &CaseMutator::malform};
    (this->*kChanges[below(kChanges.size())])();
  }

 private:
  std::size_t below(std::size_t count) { return count == 0 ? 0 : random_() % count; }
  bool one_in(std::size_t count) { return below(count) == 0; }
  template <typename T, std::size_t N>
  T any_of(const std::array<T, N>& values) {
    return values[below(N)];
  }
  std::int64_t near(std::int64_t middle) { return middle + static_cast<std::int64_t>(below(3)) - 1; }

  bool has_rows() const {
    return value_.topk > 0 && value_.rows() > 0 &&
           static_cast<__int128>(value_.rows()) * value_.topk == static_cast<__int128>(value_.learned.size());
  }
  std::size_t width_of_row() const { return static_cast<std::size_t>(value_.topk); }
  std::span<std::int32_t> row(std::size_t index) {
    return std::span(value_.learned).subspan(index * width_of_row(), width_of_row());
  }
  std::size_t any_row() { return below(value_.context_lens.size()); }

  // An edge of the row's partition, of a random segment or of the last ones.
  std::int64_t edge(std::int64_t context_len) {
    if (context_len <= 0 || value_.num_segments <= 0) {
      return static_cast<std::int64_t>(below(64));
    }
    const std::int64_t effective = harness::oracle_effective_segments(context_len, value_.num_segments);
    const auto segment =
        static_cast<std::int64_t>(below(static_cast<std::size_t>(std::min<std::int64_t>(effective, 1 << 20))));
    return harness::oracle_edge(one_in(4) ? effective - 1 - segment : segment, context_len, value_.num_segments);
  }

  std::int32_t token(std::int64_t context_len) {
    constexpr std::array<std::int32_t, 6> kPadding = {-1, -1, -1, -7, -2, std::numeric_limits<std::int32_t>::min()};
    std::int64_t chosen = 0;
    switch (below(8)) {
      case 0:
        return any_of(kPadding);
      case 1:
        chosen = near(context_len - 1);
        break;
      case 2:
        chosen =
            one_in(2) ? std::numeric_limits<std::int32_t>::max() : context_len + static_cast<std::int64_t>(below(64));
        break;
      case 3:
        chosen = context_len > 0 ? static_cast<std::int64_t>(below(static_cast<std::size_t>(context_len))) : 0;
        break;
      default:
        chosen = near(edge(context_len));
        break;
    }
    return static_cast<std::int32_t>(std::clamp<std::int64_t>(chosen, -1, std::numeric_limits<std::int32_t>::max()));
  }

  void one_token() {
    if (has_rows()) {
      const std::size_t index = any_row();
      // The ends of a row and of the kept prefix are where vector bodies and merges change their ways.
      const std::size_t last = width_of_row() - 1;
      const std::size_t slot = one_in(4) ? last - below(std::min<std::size_t>(last + 1, 4)) : below(last + 1);
      row(index)[slot] = token(value_.context_lens[index]);
    }
  }
  void some_tokens() {
    for (std::size_t i = 2 + below(6); i > 0; --i) {
      one_token();
    }
  }

  // One token a segment, all but one segment, only one segment, or every so many-th one; at times a single token past
  // the context's end among them, which counts for the last segment.
  void cover_row() {
    if (!has_rows() || value_.num_segments <= 0) {
      return;
    }
    const std::size_t index = any_row();
    const std::int32_t context_len = std::max(value_.context_lens[index], 1);
    const auto effective = static_cast<std::size_t>(
        std::min<std::int64_t>(harness::oracle_effective_segments(context_len, value_.num_segments), kMostTopk));
    const std::size_t kind = below(4);
    const std::size_t chosen = below(effective);
    const std::size_t step = kind == 3 ? 2 + below(3) : 1;
    const std::span<std::int32_t> tokens = row(index);
    const std::size_t shift = one_in(2) ? 0 : below(tokens.size());
    for (std::size_t slot = 0; slot < tokens.size(); ++slot) {
      std::size_t segment = kind == 2 ? chosen : slot * step % effective / step * step;
      segment += kind == 1 && segment == chosen ? 1 : 0;
      const std::int64_t first =
          harness::oracle_edge(static_cast<std::int64_t>(segment % effective), context_len, value_.num_segments);
      tokens[(slot + shift) % tokens.size()] = static_cast<std::int32_t>(first);
    }
    if (one_in(3)) {
      tokens[below(tokens.size())] = one_in(4) ? std::numeric_limits<std::int32_t>::max() : context_len;
    }
  }
  void arrange_row() {
    if (!has_rows()) {
      return;
    }
    const std::span<std::int32_t> tokens = row(any_row());
    switch (below(4)) {
      case 0:
        std::ranges::sort(tokens);
        break;
      case 1:
        std::ranges::reverse(tokens);
        break;
      case 2:
        std::ranges::shuffle(tokens, random_);
        break;
      default:
        std::ranges::fill(tokens, tokens[below(tokens.size())]);
        break;
    }
  }
  // A valid prefix, a valid tail, or nothing valid.
  void pad_row() {
    if (!has_rows()) {
      return;
    }
    const std::span<std::int32_t> tokens = row(any_row());
    const std::size_t cut = below(tokens.size() + 1);
    const std::span<std::int32_t> padded = one_in(3) ? tokens.first(cut) : tokens.subspan(cut);
    std::ranges::fill(padded, one_in(4) ? -7 : -1);
  }

  void length() {
    if (value_.context_lens.empty()) {
      return;
    }
    constexpr std::array<std::int32_t, 6> kEmpty = {0, -1, -7, std::numeric_limits<std::int32_t>::min(), 1, 2};
    std::int64_t chosen = 0;
    switch (below(7)) {
      case 0:
        chosen = any_of(kEmpty);
        break;
      case 1:
        chosen = near(std::clamp<std::int64_t>(value_.num_segments, 0, std::numeric_limits<std::int32_t>::max() - 1));
        break;
      case 2:
        chosen = near(std::clamp<std::int64_t>(value_.topk, 0, std::numeric_limits<std::int32_t>::max() - 1));
        break;
      case 3:
        chosen = near(std::int64_t{1} << (3 + below(28)));
        break;
      case 4:
        chosen = std::numeric_limits<std::int32_t>::max() - static_cast<std::int64_t>(below(3));
        break;
      case 5:
        chosen = static_cast<std::int64_t>(1 + below(200));
        break;
      default:
        chosen = static_cast<std::int64_t>(random_()) % std::numeric_limits<std::int32_t>::max();
        break;
    }
    value_.context_lens[any_row()] = static_cast<std::int32_t>(std::clamp<std::int64_t>(
        chosen, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()));
  }

  void copy_row() {
    if (value_.context_lens.size() >= kMostRows) {
      return;
    }
    if (value_.context_lens.empty()) {
      value_.context_lens.push_back(16);
      value_.learned.assign(static_cast<std::size_t>(std::clamp<std::int64_t>(value_.topk, 0, kMostTopk)), 0);
      return;
    }
    if (has_rows()) {
      const std::size_t index = any_row();
      const std::vector<std::int32_t> copy(row(index).begin(), row(index).end());
      value_.context_lens.push_back(value_.context_lens[index]);
      value_.learned.insert(value_.learned.end(), copy.begin(), copy.end());
    }
  }
  void drop_row() {
    if (has_rows()) {
      const std::size_t index = any_row();
      const auto first = value_.learned.begin() + static_cast<std::ptrdiff_t>(index * width_of_row());
      value_.learned.erase(first, first + static_cast<std::ptrdiff_t>(width_of_row()));
      value_.context_lens.erase(value_.context_lens.begin() + static_cast<std::ptrdiff_t>(index));
    }
  }
  void move_row() {
    if (has_rows() && value_.rows() > 1) {
      const std::size_t one = any_row();
      const std::size_t other = any_row();
      if (one != other) {
        std::swap(value_.context_lens[one], value_.context_lens[other]);
        std::ranges::swap_ranges(row(one), row(other));
      }
    }
  }

  // Another topk, the rows cut or continued by padding or by repetition.
  void width() {
    if (!has_rows()) {
      return;
    }
    constexpr std::array<std::int64_t, 16> kWidths = {1, 3, 4, 5, 15, 16, 17, 63, 64, 65, 127, 129, 192, 257, 512, 640};
    const std::int64_t wanted = one_in(2) ? any_of(kWidths) : std::clamp<std::int64_t>(near(value_.topk), 1, kMostTopk);
    std::vector<std::int32_t> learned;
    const bool pads = one_in(2);
    for (std::size_t index = 0; index < value_.context_lens.size(); ++index) {
      for (std::size_t slot = 0; slot < static_cast<std::size_t>(wanted); ++slot) {
        const bool held = slot < width_of_row();
        learned.push_back(held || !pads ? row(index)[slot % width_of_row()] : -1);
      }
    }
    value_.learned = std::move(learned);
    value_.topk = wanted;
    value_.learned_keep = std::min(value_.learned_keep, wanted);
    if (value_.row_stride) {
      value_.row_stride = std::max(*value_.row_stride, wanted);
    }
  }
  void segments() {
    constexpr std::array<std::int64_t, 14> kSegments = {1, 2, 3, 4, 7, 8, 16, 31, 32, 33, 48, 63, 64, 64};
    constexpr std::array<std::int64_t, 5> kMany = {65, 100, 128, 1000, 4095};
    value_.num_segments = value_.operation == Operation::kWitnesses && one_in(4) ? any_of(kMany) : any_of(kSegments);
  }
  void budget() {
    if (value_.operation != Operation::kApply) {
      operation();
      return;
    }
    const std::int64_t topk = std::max<std::int64_t>(value_.topk, 0);
    value_.learned_keep =
        one_in(3) ? std::max<std::int64_t>(0, topk - static_cast<std::int64_t>(below(4)))
                  : static_cast<std::int64_t>(below(static_cast<std::size_t>(std::min(topk, kMostTopk)) + 1));
    constexpr std::array<std::int64_t, 6> kBudgets = {0, 1, 2, 64, 65, std::numeric_limits<std::int64_t>::max()};
    value_.max_replacements = one_in(2) ? any_of(kBudgets) : static_cast<std::int64_t>(below(70));
  }
  void operation() {
    value_.operation = static_cast<Operation>(below(3));
    const bool apply = value_.operation == Operation::kApply;
    value_.in_place = apply && one_in(2);
    value_.learned_keep =
        apply ? std::max<std::int64_t>(0, std::max<std::int64_t>(0, value_.topk) - static_cast<std::int64_t>(below(70)))
              : 0;
    value_.max_replacements = apply ? static_cast<std::int64_t>(below(70)) : 0;
    if (value_.operation != Operation::kWitnesses && value_.num_segments > 64) {
      value_.num_segments = 64;
    }
  }
  void placement() {
    value_.base_offset = static_cast<std::int32_t>(below(16));
    value_.in_place = value_.operation == Operation::kApply && one_in(2);
    if (one_in(2)) {
      value_.row_stride.reset();
    } else {
      value_.row_stride =
          std::clamp<std::int64_t>(value_.topk, 0, kMostTopk) + static_cast<std::int64_t>(below(one_in(4) ? 3000 : 20));
    }
  }
  void prior_calls() {
    if (value_.prior_calls.size() >= kMostPriorCalls || one_in(3)) {
      value_.prior_calls.clear();
      return;
    }
    Case prior = value_;
    prior.prior_calls.clear();
    CaseMutator inner(prior, random_);
    inner.one_token();
    one_in(2) ? inner.length() : inner.operation();
    value_.prior_calls.push_back(std::move(prior));
  }

  // One argument out of its range.
  void malform() {
    constexpr std::array<std::int64_t, 5> kWild = {-1, std::numeric_limits<std::int64_t>::min(),
                                                   std::numeric_limits<std::int64_t>::max(),
                                                   std::numeric_limits<std::int64_t>::max() / 4, std::int64_t{1} << 32};
    switch (below(6)) {
      case 0:
        value_.num_segments = one_in(2) ? any_of(kWild) : static_cast<std::int64_t>(below(2)) * 65;
        break;
      case 1:
        value_.topk = any_of(kWild);
        break;
      case 2:
        value_.row_stride = one_in(2) ? any_of(kWild) : near(std::clamp<std::int64_t>(value_.topk, 0, kMostTopk) - 1);
        break;
      case 3:
        if (!value_.learned.empty()) {
          value_.learned.pop_back();
        }
        break;
      case 4:
        value_.learned.push_back(0);
        break;
      default:
        if (value_.operation == Operation::kApply) {
          (one_in(2) ? value_.learned_keep : value_.max_replacements) =
              one_in(2) ? any_of(kWild) : std::clamp<std::int64_t>(value_.topk, 0, kMostTopk) + 1;
        }
        break;
    }
  }

  Case& value_;
  Random& random_;
};

bool same_width(const Case& one, const Case& other) {
  return one.topk == other.topk && one.topk > 0 && other.rows() > 0 && one.rows() > 0 &&
         static_cast<__int128>(other.rows()) * other.topk == static_cast<__int128>(other.learned.size()) &&
         static_cast<__int128>(one.rows()) * one.topk == static_cast<__int128>(one.learned.size());
}

// One row of `other` over one of `value`.
void take_row(Case& value, const Case& other, Random& random) {
  const std::size_t from = random() % other.context_lens.size();
  const std::size_t to = random() % value.context_lens.size();
  const auto width = static_cast<std::size_t>(value.topk);
  value.context_lens[to] = other.context_lens[from];
  std::ranges::copy(std::span(other.learned).subspan(from * width, width),
                    value.learned.begin() + static_cast<std::ptrdiff_t>(to * width));
}

// Draws the run of a scheduled case anew, or changes one part of it.
void mutate_run(ScheduledCase& scheduled, Random& random) {
  switch (random() % 6) {
    case 0:
      scheduled.run.schedule = simt::random_schedule(random());
      break;
    case 5:
      // Thousands of rows take a second: mostly some dozens or hundreds.
      scheduled.row_count = random() % (random() % 512 == 0 ? ScheduledCase::kRowCounts.size() : 4);
      break;
    case 1:
      scheduled.run.schedule = simt::pct_schedule(random());
      break;
    case 2:
      scheduled.run.variant = random() % 2 == 0 ? kernels::Variant::kBlock : kernels::Variant::kWarp;
      break;
    case 3:
      scheduled.run.grid_divisor = 1 + random() % 4;
      break;
    default:
      scheduled.lengths_choice = random() % 256;
      break;
  }
}

Bytes mutate_case(std::span<const std::uint8_t> bytes, Random& random) {
  Case value = harness::decode(bytes);
  mutate(value, random);
  return harness::encode(value);
}

Bytes cross_cases(std::span<const std::uint8_t> one, std::span<const std::uint8_t> other, Random& random) {
  return harness::encode(cross(harness::decode(one), harness::decode(other), random));
}

Bytes mutate_scheduled(std::span<const std::uint8_t> bytes, Random& random) {
  ScheduledCase scheduled = decode_scheduled(bytes);
  mutate_run(scheduled, random);
  if (random() % 3 != 0) {
    mutate(scheduled.value, random);
  }
  return encode_scheduled(scheduled);
}

Bytes cross_scheduled(std::span<const std::uint8_t> one, std::span<const std::uint8_t> other, Random& random) {
  ScheduledCase child = decode_scheduled(one);
  const ScheduledCase donor = decode_scheduled(other);
  child.value = cross(child.value, donor.value, random);
  child.run = random() % 2 == 0 ? child.run : donor.run;
  return encode_scheduled(child);
}

}  // namespace

void mutate(Case& value, Random& random) {
  CaseMutator mutator(value, random);
  for (std::size_t changes = 1 + random() % 4; changes > 0; --changes) {
    const Case before = value;
    mutator.change();
    // A wild count or stride may make a legal call of more elements than the byte form carries.
    if (!is_within_limits(value)) {
      value = before;
    }
  }
}

Case cross(const Case& one, const Case& other, Random& random) {
  Case child = one;
  child.prior_calls.clear();
  if (same_width(child, other) && random() % 4 != 0) {
    take_row(child, other, random);
    return child;
  }
  switch (random() % 5) {
    case 0:
      child.num_segments = other.num_segments;
      break;
    case 1:
      child.row_stride = other.row_stride;
      child.base_offset = other.base_offset;
      break;
    case 2:
      if (!other.context_lens.empty()) {
        for (std::int32_t& length : child.context_lens) {
          length = other.context_lens[random() % other.context_lens.size()];
        }
      }
      break;
    case 3:
      for (std::size_t i = 0; i < std::min(child.learned.size(), other.learned.size()); ++i) {
        child.learned[i] = other.learned[i];
      }
      break;
    default:
      child.prior_calls = {other};
      child.prior_calls.front().prior_calls.clear();
      break;
  }
  return is_within_limits(child) ? child : one;
}

extern const Mutator kCaseMutator = {.mutate = mutate_case, .cross = cross_cases};
extern const Mutator kScheduledCaseMutator = {.mutate = mutate_scheduled, .cross = cross_scheduled};

}  // namespace kvwitness::fuzz
