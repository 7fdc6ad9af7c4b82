#include "fuzz/inputs/scheduled_case.h"

#include <kvwitness/legality.h>

#include <algorithm>
#include <array>
#include <string>

namespace kvwitness::fuzz {
namespace {

// In order on blocks, and at random on warps of half the grid.
std::vector<Bytes> inputs_of(const harness::Case& value) {
  ScheduledCase scheduled{.run = {kernels::Variant::kBlock, simt::in_order, 1}, .lengths_choice = 0, .value = value};
  std::vector<Bytes> inputs = {encode_scheduled(scheduled)};
  scheduled.run = {kernels::Variant::kWarp, simt::random_schedule(1), 2};
  scheduled.lengths_choice = 3;
  inputs.push_back(encode_scheduled(scheduled));
  return inputs;
}

harness::Case case_of(std::span<const std::uint8_t> bytes) {
  return decode_scheduled(bytes).value;
}

Bytes with_case(std::span<const std::uint8_t> bytes, const harness::Case& value) {
  ScheduledCase scheduled = decode_scheduled(bytes);
  scheduled.value = value;
  return encode_scheduled(scheduled);
}

// The schedule in order or of half its number, the whole grid, the first form of the lengths.
std::vector<Bytes> plainer_runs(std::span<const std::uint8_t> bytes) {
  std::vector<Bytes> runs;
  const auto with = [&](const auto& change) {
    ScheduledCase scheduled = decode_scheduled(bytes);
    change(scheduled);
    runs.push_back(encode_scheduled(scheduled));
  };
  with([](ScheduledCase& scheduled) { scheduled.run.schedule = simt::in_order; });
  with([](ScheduledCase& scheduled) { scheduled.run.schedule /= 2; });
  with([](ScheduledCase& scheduled) { scheduled.run.grid_divisor = 1; });
  with([](ScheduledCase& scheduled) { scheduled.lengths_choice = 0; });
  with([](ScheduledCase& scheduled) { scheduled.row_count = 0; });
  with([](ScheduledCase& scheduled) { scheduled.row_count -= scheduled.row_count > 0 ? 1 : 0; });
  return runs;
}

// Each case twice, and a short batch repeated to the numbers of rows behind 8, 12 and 16 bits.
std::vector<Seed> seeds_of(std::span<const NamedCase> cases) {
  std::vector<Seed> seeds = seeds_of_inputs(inputs_of, cases);
  harness::Case batch;
  batch.operation = harness::Operation::kWitnesses;
  batch.topk = 1;
  batch.num_segments = 2;
  batch.context_lens = {16, 9, 5};
  batch.learned = {3, 8, -1};
  for (const std::int64_t rows : {257, 4097, 65537}) {
    const auto count = static_cast<std::size_t>(std::ranges::find(ScheduledCase::kRowCounts, rows) -
                                                ScheduledCase::kRowCounts.begin());
    ScheduledCase scheduled{
        .run = {kernels::Variant::kBlock, simt::in_order, 1}, .lengths_choice = 0, .value = batch, .row_count = count};
    seeds.push_back({"repeated-to-" + std::to_string(rows), encode_scheduled(scheduled)});
  }
  return seeds;
}

}  // namespace

harness::Case ScheduledCase::repeated() const {
  constexpr std::int64_t kManyRows = 2048, kMostOfAShortRow = 4;
  const std::int64_t rows = kRowCounts[row_count];
  const bool is_short = value.topk <= kMostOfAShortRow && value.num_segments <= kMostOfAShortRow;
  // A scatter of no segments is legal whatever its rows are.
  const auto held = static_cast<std::int64_t>(value.learned.size());
  const bool fills_rows = value.topk >= 0 && value.topk <= held && value.rows() * value.topk == held;
  if (rows <= value.rows() || value.rows() == 0 || !harness::is_legal(value) || !fills_rows ||
      (rows > kManyRows && !is_short)) {
    return value;
  }
  harness::Case many = value;
  many.row_stride.reset();
  many.prior_calls.clear();
  while (many.rows() < rows) {
    const auto from = static_cast<std::ptrdiff_t>(many.rows() % value.rows());
    many.context_lens.push_back(value.context_lens[static_cast<std::size_t>(from)]);
    const auto first = value.learned.begin() + from * value.topk;
    many.learned.insert(many.learned.end(), first, first + value.topk);
  }
  return many;
}

extern const InputForm kScheduledCaseForm = {
    .name = "a schedule, then a case",
    .most_seed_bytes = 3072,
    .most_input_bytes = 4096,
    .inputs_of = inputs_of,
    .seeds_of = seeds_of,
    .case_of = case_of,
    .with_case = with_case,
    .plainer_around_case = plainer_runs,
};

ScheduledCase decode_scheduled(std::span<const std::uint8_t> bytes) {
  std::array<std::uint8_t, ScheduledCase::kHeaderBytes> header{};
  const std::size_t held = std::min(bytes.size(), header.size());
  std::ranges::copy(bytes.first(held), header.begin());
  std::uint64_t schedule = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    schedule |= std::uint64_t{header[i]} << (8 * i);
  }
  const auto variant = (header[8] & 1) == 0 ? kernels::Variant::kBlock : kernels::Variant::kWarp;
  return {.run = {variant, schedule, 1u + (header[9] & 3u)},
          .lengths_choice = header[10],
          .value = harness::decode(bytes.subspan(held)),
          .row_count = header[11] % ScheduledCase::kRowCounts.size()};
}

Bytes encode_scheduled(const ScheduledCase& scheduled) {
  Bytes bytes(ScheduledCase::kHeaderBytes);
  for (std::size_t i = 0; i < 8; ++i) {
    bytes[i] = static_cast<std::uint8_t>(scheduled.run.schedule >> (8 * i));
  }
  bytes[8] = scheduled.run.variant == kernels::Variant::kBlock ? 0 : 1;
  bytes[9] = static_cast<std::uint8_t>((scheduled.run.grid_divisor - 1) & 3);
  bytes[10] = static_cast<std::uint8_t>(scheduled.lengths_choice);
  bytes[11] = static_cast<std::uint8_t>(scheduled.row_count);
  const Bytes encoded = harness::encode(scheduled.value);
  bytes.insert(bytes.end(), encoded.begin(), encoded.end());
  return bytes;
}

}  // namespace kvwitness::fuzz
