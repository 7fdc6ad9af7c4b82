#include "fuzz/case_simplifier.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <utility>

namespace kvwitness::fuzz {
namespace {

using harness::Case;

bool has_rows(const Case& value) {
  return value.topk > 0 && value.rows() > 0 &&
         static_cast<__int128>(value.rows()) * value.topk == static_cast<__int128>(value.learned.size());
}

Case without_rows(const Case& value, std::size_t first, std::size_t count) {
  Case fewer = value;
  const auto width = static_cast<std::size_t>(value.topk);
  const auto begin = static_cast<std::ptrdiff_t>(first);
  fewer.context_lens.erase(fewer.context_lens.begin() + begin,
                           fewer.context_lens.begin() + static_cast<std::ptrdiff_t>(first + count));
  fewer.learned.erase(fewer.learned.begin() + static_cast<std::ptrdiff_t>(first * width),
                      fewer.learned.begin() + static_cast<std::ptrdiff_t>((first + count) * width));
  return fewer;
}

Case without_slots(const Case& value, std::int64_t first, std::int64_t count) {
  Case narrower = value;
  narrower.learned.clear();
  for (std::int64_t row = 0; row < value.rows(); ++row) {
    for (std::int64_t slot = 0; slot < value.topk; ++slot) {
      if (slot < first || slot >= first + count) {
        narrower.learned.push_back(value.learned[static_cast<std::size_t>(row * value.topk + slot)]);
      }
    }
  }
  narrower.topk -= count;
  narrower.learned_keep = std::min(narrower.learned_keep, narrower.topk);
  return narrower;
}

// Smaller numbers from `least` on, the smallest first; half of a negative one. Each bit is cleared alone, so that the
// least number above some limit is reached in few steps; the last step, by one, gets past a single bit.
template <typename Number, typename Use>
void for_each_smaller(Number now, Number least, const Use& use) {
  if (now < -1) {
    use(now / 2);
    return;
  }
  for (Number plainer = least; plainer <= 1 && plainer < now; ++plainer) {
    use(plainer);
  }
  constexpr Number kFew = 4;  // below that, the steps above and the one by one are all there are
  for (int bit = std::numeric_limits<Number>::digits - 1; now >= kFew && bit >= 0; --bit) {
    const Number power = Number{1} << bit;
    if ((now & power) != 0 && now - power > 1) {
      use(now - power);
    }
  }
  if (now >= kFew) {
    use(now / 2);
  }
  if (now > 2) {
    use(now - 1);
  }
}

class Simplifier {
 public:
  explicit Simplifier(const Case& value) : value_(value) {}

  std::vector<Case> all() {
    calls_before();
    rows();
    slots();
    placement();
    counts();
    values();
    // A smaller count may make a refused call legal, and then of more elements than a case may touch.
    std::erase_if(simpler_, [](const Case& candidate) { return !is_within_limits(candidate); });
    return std::move(simpler_);
  }

 private:
  void calls_before() {
    if (!value_.prior_calls.empty()) {
      Case alone = value_;
      alone.prior_calls.clear();
      simpler_.push_back(std::move(alone));
    }
    for (std::size_t i = 0; i < value_.prior_calls.size(); ++i) {
      Case fewer = value_;
      fewer.prior_calls.erase(fewer.prior_calls.begin() + static_cast<std::ptrdiff_t>(i));
      simpler_.push_back(std::move(fewer));
      for (Case& earlier : kvwitness::fuzz::simpler(value_.prior_calls[i])) {
        Case plainer = value_;
        plainer.prior_calls[i] = std::move(earlier);
        simpler_.push_back(std::move(plainer));
      }
    }
  }
  // Runs of half, a quarter, ..., one of `size`, each at every multiple of its length.
  template <typename Drop>
  void drop_runs(std::size_t size, const Drop& drop) {
    for (std::size_t count = (size + 1) / 2; count > 0; count /= 2) {
      for (std::size_t first = 0; first + count <= size; first += count) {
        simpler_.push_back(drop(first, count));
      }
    }
  }
  void rows() {
    // Rows without slots can be dropped too.
    if (has_rows() || (value_.topk == 0 && value_.learned.empty())) {
      drop_runs(value_.context_lens.size(),
                [&](std::size_t first, std::size_t count) { return without_rows(value_, first, count); });
    } else if (value_.learned.size() > 1) {
      Case shorter = value_;
      shorter.learned.resize(value_.learned.size() / 2);
      simpler_.push_back(std::move(shorter));
    }
  }
  void slots() {
    if (has_rows()) {
      drop_runs(static_cast<std::size_t>(value_.topk), [&](std::size_t first, std::size_t count) {
        return without_slots(value_, static_cast<std::int64_t>(first), static_cast<std::int64_t>(count));
      });
    }
  }
  void placement() {
    if (value_.row_stride) {
      with([](Case& plainer) { plainer.row_stride.reset(); });
      smaller_count(*value_.row_stride, [](Case& plainer) -> std::int64_t& { return *plainer.row_stride; });
    }
    if (value_.base_offset != 0) {
      with([](Case& plainer) { plainer.base_offset = 0; });
    }
    if (value_.in_place) {
      with([](Case& plainer) { plainer.in_place = false; });
    }
  }
  void counts() {
    smaller_count(value_.num_segments, [](Case& plainer) -> std::int64_t& { return plainer.num_segments; });
    smaller_count(value_.learned_keep, [](Case& plainer) -> std::int64_t& { return plainer.learned_keep; });
    smaller_count(value_.max_replacements, [](Case& plainer) -> std::int64_t& { return plainer.max_replacements; });
    if (!has_rows()) {
      smaller_count(value_.topk, [](Case& plainer) -> std::int64_t& { return plainer.topk; });
    }
  }
  void values() {
    for (std::size_t i = 0; i < value_.context_lens.size(); ++i) {
      smaller_value(value_.context_lens[i], [i](Case& plainer) -> std::int32_t& { return plainer.context_lens[i]; });
    }
    // Long rows are simplified by their slots first.
    constexpr std::size_t kMostTokens = 256;
    for (std::size_t i = 0; i < value_.learned.size() && value_.learned.size() <= kMostTokens; ++i) {
      smaller_value(value_.learned[i], [i](Case& plainer) -> std::int32_t& { return plainer.learned[i]; });
    }
  }

  bool has_rows() const { return kvwitness::fuzz::has_rows(value_); }
  template <typename Change>
  void with(const Change& change) {
    Case plainer = value_;
    change(plainer);
    simpler_.push_back(std::move(plainer));
  }
  template <typename Field>
  void smaller_count(std::int64_t now, const Field& field) {
    for_each_smaller<std::int64_t>(
        now, 0, [&](std::int64_t plainer) { with([&](Case& changed) { field(changed) = plainer; }); });
  }
  // Towards -1 for tokens and lengths alike: padding, an empty row.
  template <typename Field>
  void smaller_value(std::int32_t now, const Field& field) {
    for_each_smaller<std::int32_t>(
        now, -1, [&](std::int32_t plainer) { with([&](Case& changed) { field(changed) = plainer; }); });
  }

  const Case& value_;
  std::vector<Case> simpler_;
};

}  // namespace

std::vector<Case> simpler(const Case& value) {
  return Simplifier(value).all();
}

}  // namespace kvwitness::fuzz
