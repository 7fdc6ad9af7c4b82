#include "fuzz/mutators/raw_call_mutator.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <vector>

#include "fuzz/c_functions/c_function.h"
#include "fuzz/c_functions/refusal_rule.h"

namespace kvwitness::fuzz {
namespace {

constexpr std::int64_t kInt64Max = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kInt32Max = std::numeric_limits<std::int32_t>::max();
constexpr auto kMostPointer = static_cast<std::int32_t>(kArenaBytes);

constexpr std::int64_t wrapped_product(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

constexpr std::int64_t wrapped_sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

class RawCallMutator {
 public:
  RawCallMutator(RawCall& call, Random& random) : call_(call), random_(random) {}

  void change() {
    static constexpr std::array<void (RawCallMutator::*)(), 15> kChanges = {&RawCallMutator::function,
                                                                            &RawCallMutator::small_count,
                                                                            &RawCallMutator::limit_count,
                                                                            &RawCallMutator::limit_count,
                                                                            &RawCallMutator::related_count,
                                                                            &RawCallMutator::related_count,
                                                                            &RawCallMutator::wrapping_product,
                                                                            &RawCallMutator::pointer,
                                                                            &RawCallMutator::pointer,
                                                                            &RawCallMutator::text,
                                                                            &RawCallMutator::nothing_to_read,
                                                                            &RawCallMutator::null,
                                                                            &RawCallMutator::neighbour,
                                                                            &RawCallMutator::neighbour,
                                                                            &RawCallMutator::seed};
    (this->*kChanges[below(kChanges.size())])();
  }

 private:
  std::size_t below(std::size_t count) { return random_() % count; }
  std::int64_t beside(std::int64_t value) { return wrapped_sum(value, static_cast<std::int64_t>(below(3)) - 1); }
  std::int64_t& any_count() { return call_.counts[any_place(function_of(call_).counts(), kCountCount)]; }
  std::int32_t& any_pointer() { return call_.pointers[any_place(function_of(call_).pointers(), kPointerCount)]; }
  // One that the function reads; now and then, or where it reads none, any.
  std::size_t any_place(const std::vector<std::size_t>& read, std::size_t all) {
    return read.empty() || below(8) == 0 ? below(all) : read[below(read.size())];
  }

  void function() { call_.function = static_cast<std::uint8_t>(below(c_functions().size())); }
  void small_count() { any_count() = static_cast<std::int64_t>(below(9)); }
  void limit_count() {
    constexpr std::array<std::int64_t, 8> kLimits = {
        0, 1, 64, kInt32Max, kInt64Max, kInt64Max / 4, kInt64Max / 8, std::int64_t{1} << 32};
    any_count() = beside(kLimits[below(kLimits.size())]);
  }

  // What a count should be to fit the others, or one beside it.
  void related_count() {
    auto& counts = call_.counts;
    const std::int64_t requests = counts[kLengthsNextN] > 0 ? counts[kRows] / counts[kLengthsNextN] : counts[kRows];
    switch (below(10)) {
      case 0:
        counts[kLen] = beside(wrapped_product(counts[kRows], counts[kTopk]));
        break;
      case 1:
        counts[kLen] = beside(wrapped_product(counts[kTopk], counts[kTopk]));
        break;
      case 2:
        counts[kOutLen] = beside(wrapped_product(counts[kRows], counts[kSegments]));
        break;
      case 3:
        counts[kStride] = beside(counts[kTopk]);
        counts[kOutStride] = below(2) == 0 ? counts[kStride] : beside(counts[kTopk]);
        break;
      case 4:
        counts[kKeep] = beside(counts[kTopk]);
        break;
      case 5:
        counts[kLengthsCount] = beside(requests);
        break;
      case 6:
        // As many lengths as whole requests, or one more for the rows that are left.
        counts[kLengthsNextN] = static_cast<std::int64_t>(1 + below(4));
        counts[kLengthsCount] = wrapped_sum(std::max<std::int64_t>(counts[kRows], 0) / counts[kLengthsNextN],
                                            static_cast<std::int64_t>(below(2)));
        break;
      case 7:
      case 8:
        // Rows with spare columns between them, which end at the last row's last slot.
        counts[kStride] = wrapped_sum(counts[kTopk], static_cast<std::int64_t>(below(4)));
        counts[kLen] =
            beside(wrapped_sum(wrapped_product(wrapped_sum(counts[kRows], -1), counts[kStride]), counts[kTopk]));
        break;
      default:
        counts[kLen] = wrapped_product(counts[kRows], counts[kTopk]);
        counts[kOutLen] = counts[kLen];
        break;
    }
  }
  void wrapping_product() {
    const std::size_t shift = 1 + below(62);
    call_.counts[kTopk] = std::int64_t{1} << shift;
    call_.counts[kRows] = std::int64_t{1} << std::min<std::size_t>(62, 64 - shift);
    call_.counts[kLen] = wrapped_product(call_.counts[kTopk], call_.counts[kRows]);
  }

  // Rows without slots, slots without rows, or neither: pointers may be null then, but not all of them.
  void nothing_to_read() {
    auto& counts = call_.counts;
    const std::size_t kind = below(3);
    counts[kTopk] = kind == 0 ? static_cast<std::int64_t>(below(5)) : 0;
    counts[kRows] = kind == 1 ? static_cast<std::int64_t>(1 + below(4)) : 0;
    counts[kLen] = 0;
    counts[kKeep] = 0;
    counts[kSegments] = static_cast<std::int64_t>(1 + below(4));
  }
  void seed() { call_.seed = below(2) == 0 ? below(64) : random_(); }
  void null() { any_pointer() = RawCall::kNull; }

  void pointer() {
    constexpr std::int32_t kWord = 8;
    std::int32_t& changed = any_pointer();
    const std::int32_t other = any_pointer();
    switch (below(5)) {
      case 0:
        changed = RawCall::kNull;
        break;
      case 1:
        changed = other;
        break;
      case 2:
      case 3:
        // Where the other buffer may end, or just before.
        changed = other + kWord * static_cast<std::int32_t>(below(9));
        break;
      default:
        changed = kWord * static_cast<std::int32_t>(below(kArenaBytes / kWord));
        break;
    }
    changed = changed < 0 ? RawCall::kNull : changed % kMostPointer / kWord * kWord;
  }

  // One buffer directly behind another, or so that they share a few bytes or any number.
  void neighbour() {
    const CFunction& read = function_of(call_);
    const auto& counts = call_.counts;
    if (std::ranges::any_of(read.counts(), [&](std::size_t place) { return counts[place] < 0; }) ||
        counts[kLengthsNextN] < 1) {
      return;
    }
    const std::vector<Buffer> buffers = buffers_of(read, call_);
    if (buffers.size() < 2) {
      return;
    }
    const Buffer& first = buffers[below(buffers.size())];
    const Buffer& second = buffers[below(buffers.size())];
    if (&first == &second || first.pointer == RawCall::kNull || first.bytes <= 0 || first.bytes >= kArenaBytes) {
      return;
    }
    const auto bytes = static_cast<std::int32_t>(first.bytes);
    const auto shared = static_cast<std::int32_t>(below(below(4) == 0 ? static_cast<std::size_t>(bytes) + 1 : 9));
    const std::int32_t place = first.pointer + bytes - shared;
    for (const std::size_t pointer : read.pointers()) {
      if (call_.pointers[pointer] == second.pointer && pointer != kLengthsStruct && place >= 0 &&
          place < kMostPointer) {
        call_.pointers[pointer] = place;
        return;
      }
    }
  }

  void text() {
    constexpr std::array<std::string_view, 18> kTexts = {
        "",       "0",    "64",     "65",   "007",  " 7",     "7 ", "-1", "+1", "0x", "6 4", "99999999999999999999",
        "scalar", "avx2", "avx512", "AVX2", "neon", "scalar "};
    call_.text = kTexts[below(kTexts.size())];
  }

  RawCall& call_;
  Random& random_;
};

}  // namespace

void mutate(RawCall& call, Random& random) {
  RawCallMutator mutator(call, random);
  for (std::size_t changes = 1 + random() % 3; changes > 0; --changes) {
    mutator.change();
  }
}

extern const Mutator kRawCallMutator = {.mutate = [](std::span<const std::uint8_t> bytes, Random& random) {
  RawCall call = decode_raw_call(bytes);
  mutate(call, random);
  return encode_raw_call(call);
}};

}  // namespace kvwitness::fuzz
