#include "properties/implementations/cuda_call.h"

#include <kvwitness/assertions.h>

#include <algorithm>
#include <limits>

namespace kvwitness::harness {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

// Step of splitmix64 (Steele, Lea, Flood 2014).
std::uint64_t mix(std::uint64_t value) noexcept {
  value += 0x9E3779B97F4A7C15u;
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9u;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EBu;
  return value ^ (value >> 31);
}

bool fits_int32(std::int64_t value) noexcept {
  return value >= std::numeric_limits<std::int32_t>::min() && value <= std::numeric_limits<std::int32_t>::max();
}

std::int64_t saturating(__int128 value) noexcept {
  return value > kMost ? kMost : static_cast<std::int64_t>(value);
}

}  // namespace

LengthsForm::LengthsForm(const std::int32_t* context_lens, std::int64_t rows, std::uint64_t choice)
    : lens_(context_lens, context_lens + rows), count_(rows) {
  const std::uint64_t noise = mix(choice);
  switch (choice % 6) {
    case 0:
      return;
    case 1:
      make_windows(noise);
      return;
    case 2:
      spread(3);
      return;
    case 3:
      make_windows(noise);
      spread(2);
      return;
    default:
      break;
  }
  for (const std::int64_t next_n : {std::int64_t{2}, std::int64_t{3}, rows, rows + 1}) {
    if (next_n > 1 && try_requests(context_lens, rows, next_n)) {
      break;
    }
  }
  if (choice % 6 == 5) {
    make_windows(noise);
    spread(2);
  }
}

bool LengthsForm::try_requests(const std::int32_t* context_lens, std::int64_t rows, std::int64_t next_n) {
  std::vector<std::int32_t> requests;
  for (std::int64_t first = 0; first < rows; first += next_n) {
    const std::int64_t last = std::min(first + next_n, rows);
    // Row i of a request has the request's length less next_n - 1 - i.
    const auto behind = [&](std::int64_t row) { return next_n - 1 - (row - first); };
    std::int64_t length = 0;
    for (std::int64_t row = first; row < last; ++row) {
      length = context_lens[row] > 0 ? context_lens[row] + behind(row) : length;
    }
    for (std::int64_t row = first; row < last; ++row) {
      const std::int64_t given = length - behind(row);
      if (!fits_int32(length) || (context_lens[row] > 0 ? given != context_lens[row] : given > 0)) {
        return false;
      }
    }
    requests.push_back(static_cast<std::int32_t>(length));
  }
  lens_ = std::move(requests);
  count_ = static_cast<std::int64_t>(lens_.size());
  next_n_ = next_n;
  return true;
}

void LengthsForm::make_windows(std::uint64_t noise) {
  for (std::int32_t& end : lens_) {
    noise = mix(noise);
    const auto start = static_cast<std::int32_t>(noise % 4096) - 1024;
    const bool fits = fits_int32(std::int64_t{end} + start);
    starts_.push_back(fits ? start : 0);
    end += fits ? start : 0;
  }
}

void LengthsForm::spread(std::int64_t stride) {
  KVWITNESS_ASSERT(stride > 0, stride);
  for (std::vector<std::int32_t>* values : {&lens_, &starts_}) {
    if (values->empty()) {
      continue;
    }
    std::vector<std::int32_t> spread_out((values->size() - 1) * static_cast<std::size_t>(stride) + 1, 0x5EED5EED);
    for (std::size_t i = 0; i < values->size(); ++i) {
      spread_out[i * static_cast<std::size_t>(stride)] = (*values)[i];
    }
    *values = std::move(spread_out);
  }
  stride_ = stride;
}

kvw_cuda_lengths LengthsForm::at(const std::int32_t* lens, const std::int32_t* starts) const noexcept {
  return {.lens = lens,
          .starts = starts_.empty() ? nullptr : starts,
          .count = count_,
          .stride = stride_,
          .next_n = next_n_};
}

std::int64_t covered_elements(const Call& call) noexcept {
  if (call.row_stride == call.topk || call.rows == 0 || call.topk <= 0) {
    return call.learned_len;
  }
  return std::max(call.learned_len, saturating(static_cast<__int128>(call.rows - 1) * call.row_stride + call.topk));
}

CudaPlan plan_call(const Call& call, const kvw_cuda_lengths& lengths, std::int32_t* learned,
                   std::int32_t* out) noexcept {
  CudaPlan plan{};
  const std::int64_t covered = covered_elements(call);
  switch (call.operation) {
    case Operation::kWitnesses:
      plan.status = kernels::plan_witness_indices(
          learned, covered, call.row_stride, call.topk, &lengths, call.rows, call.num_segments, out,
          saturating(static_cast<__int128>(call.rows) * std::max<std::int64_t>(0, call.num_segments)), plan.indices);
      break;
    case Operation::kApply:
      plan.status =
          kernels::plan_apply(learned, covered, call.row_stride, call.topk, &lengths, call.rows, call.learned_keep,
                              call.num_segments, call.max_replacements, out, covered, call.row_stride, plan.merge);
      break;
    case Operation::kScatter:
      plan.status = kernels::plan_scatter(learned, covered, call.row_stride, call.topk, &lengths, call.rows,
                                          call.num_segments, plan.merge);
      break;
  }
  return plan;
}

bool is_cuda_case(const Case& value) {
  return static_cast<__int128>(value.learned.size()) <=
         static_cast<__int128>(value.rows()) * std::max<std::int64_t>(0, value.topk);
}

std::uint64_t fingerprint(const Call& call) noexcept {
  std::uint64_t state = static_cast<std::uint64_t>(call.operation);
  for (const std::int64_t value : {call.learned_len, call.row_stride, call.topk, call.rows, call.learned_keep,
                                   call.num_segments, call.max_replacements}) {
    state = mix(state ^ static_cast<std::uint64_t>(value));
  }
  for (std::int64_t row = 0; row < call.rows; ++row) {
    state = mix(state ^ static_cast<std::uint32_t>(call.context_lens[row]));
  }
  // The first row's tokens tell cases of one shape apart; a malformed call may have none.
  for (std::int64_t slot = 0; slot < std::min(call.topk, call.learned_len); ++slot) {
    state = mix(state ^ static_cast<std::uint32_t>(call.learned[slot]));
  }
  return state;
}

}  // namespace kvwitness::harness
