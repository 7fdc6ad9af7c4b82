#include "tests/properties/sampled_cases.h"

#include <kvwitness/oracle.h>

#include <algorithm>
#include <limits>

namespace kvwitness::harness {

// splitmix64 (Steele et al. 2014).
std::uint64_t CaseSampler::draw() {
  std::uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

std::int64_t CaseSampler::between(std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(draw() % static_cast<std::uint64_t>(high - low + 1));
}

std::int32_t CaseSampler::context_len() {
  switch (between(0, 5)) {
    case 0:
      return static_cast<std::int32_t>(between(-2, 3));
    case 1:
      return one_of<std::int32_t>({std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max(),
                                   std::numeric_limits<std::int32_t>::max() - 1, (1 << 24) + 1, 1 << 26, 65535});
    case 2:
      return static_cast<std::int32_t>(between(1, 100000));
    default:
      return static_cast<std::int32_t>(between(1, 70));
  }
}

std::int32_t CaseSampler::token(std::int32_t context_len, std::int64_t num_segments) {
  const std::int32_t length = std::max(context_len, 1);
  switch (between(0, 9)) {
    case 0:
      return -1;
    case 1:
      return one_of<std::int32_t>({-1, -7, std::numeric_limits<std::int32_t>::min()});
    case 2:
      return one_of<std::int32_t>({length, std::numeric_limits<std::int32_t>::max(), length - 1});
    case 3:
    case 4: {
      const std::int64_t effective = std::min<std::int64_t>(num_segments, length);
      const std::int64_t edge = (between(0, effective) * length + effective - 1) / effective;
      return static_cast<std::int32_t>(std::clamp<std::int64_t>(edge + between(-1, 0), 0, length - 1));
    }
    default:
      return static_cast<std::int32_t>(between(0, length - 1));
  }
}

Case CaseSampler::legal_call() {
  Case value;
  value.operation = one_of({Operation::kWitnesses, Operation::kApply, Operation::kScatter});
  value.topk = one_in(12) ? 0 : between(1, 12);
  value.num_segments = one_in(4) ? one_of<std::int64_t>({1, 31, 32, 33, 63, 64}) : between(1, 12);
  if (value.operation == Operation::kWitnesses && one_in(6)) {
    value.num_segments = between(65, 140);
  }
  if (value.operation == Operation::kScatter && one_in(20)) {
    value.num_segments = 0;
  }
  if (value.operation == Operation::kApply) {
    value.learned_keep = between(0, value.topk);
    value.max_replacements = one_in(10) ? std::numeric_limits<std::int64_t>::max() : between(0, 12);
    value.in_place = one_in(3);
  }
  const std::int64_t rows = one_in(15) ? 0 : between(1, 4);
  for (std::int64_t row = 0; row < rows; ++row) {
    value.context_lens.push_back(context_len());
    for (std::int64_t slot = 0; slot < value.topk; ++slot) {
      value.learned.push_back(token(value.context_lens.back(), std::max<std::int64_t>(1, value.num_segments)));
    }
  }
  if (one_in(3)) {
    value.row_stride = value.topk + between(0, 9);
  }
  value.base_offset = one_in(2) ? 0 : static_cast<std::int32_t>(between(0, 15));
  return value;
}

void CaseSampler::spoil(Case& value) {
  switch (between(0, 4)) {
    case 0:
      value.learned.push_back(3);
      value.form = Form::kFlat;
      break;
    case 1:
      value.num_segments = one_of<std::int64_t>({0, 65, 1000, std::int64_t{1} << 62});
      break;
    case 2:
      value.learned_keep = value.operation == Operation::kApply ? value.topk + between(1, 3) : 0;
      break;
    case 3:
      (value.operation == Operation::kApply && one_in(2) ? value.max_replacements : value.num_segments) =
          -between(1, 5);
      break;
    default:
      value.row_stride = between(-2, value.topk);
  }
}

Case CaseSampler::next() {
  Case value = legal_call();
  if (one_in(5)) {
    spoil(value);
  }
  if (one_in(8)) {
    value.prior_calls.push_back(legal_call());
    if (one_in(3)) {
      spoil(value.prior_calls.back());
    }
  }
  return value;
}

Case CaseSampler::next_legal() {
  Case value = legal_call();
  if (one_in(8)) {
    value.prior_calls.push_back(legal_call());
  }
  return value;
}

}  // namespace kvwitness::harness
