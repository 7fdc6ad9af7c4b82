// A plug-in that is wrong in one way: the one that its file's name says (faults.h). Copies or links of the file are
// different plug-ins.
#include <dlfcn.h>
#include <kvwitness/plugin.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/faults/faulty_checks.h"
#include "tests/faults/faulty_process.h"
#include "tests/faults/faulty_row.h"

namespace kvwitness::faults {

const FaultEntry& chosen_entry() {
  static const FaultEntry& entry = [] -> const FaultEntry& {
    Dl_info info{};
    dladdr(reinterpret_cast<const void*>(&kvw_plugin_abi_version), &info);
    const FaultEntry* found = find_fault(std::filesystem::path(info.dli_fname).stem().string());
    if (found == nullptr) throw std::runtime_error("the file's name is none of the faults");
    return *found;
  }();
  return entry;
}

namespace {

// What earlier calls of the process left behind.
struct History {
  int64_t calls = 0;
  bool skip_first_row = false;
  std::vector<std::int32_t> staged;  // a row's copy, as long as the longest row so far
  int64_t written_in_batch = 0;
  int64_t first_rows = -1;
  int64_t first_topk = -1;
  const std::int32_t* lengths_at = nullptr;
  std::vector<std::int32_t> lengths;
  std::tuple<Kind, const void*, const void*, int64_t, int64_t, int64_t, int64_t, int64_t> arguments{};
  std::vector<std::int32_t> result;
};
History history;

bool has_past_end(const std::int32_t* row, int64_t topk, int64_t len) {
  return len > 0 && std::any_of(row, row + topk, [&](std::int32_t token) { return token >= len; });
}

// What is wrong with a merged row and the elements after it, but for its witnesses.
void finish(const Row& row, std::int32_t* out) {
  if (is(Fault::written_behind) && row.following == 0) out[row.topk] = -1;
  if (is(Fault::behind_restored) && row.following == 0) {
    volatile std::int32_t* const behind = out + row.topk;
    *behind = *behind;
  }
  for (int64_t column = row.topk; is(Fault::spare_written) && column < row.topk + row.spare && column % 4 != 0;
       ++column) {
    out[column] = -1;
  }
}

void merge_row(const Row& row, std::int32_t* out) {
  rule::Row merged = static_cast<const rule::Row&>(row);
  if (is(Fault::in_place_read_late) && row.learned == out && row.budget > 0) out[row.keep] = -1;
  if (is(Fault::budget_of_the_batch)) merged.budget = std::max<int64_t>(row.budget - history.written_in_batch, 0);
  const std::vector<std::int32_t> found = witnesses_of(row);
  const std::vector<std::int32_t> written = rule::chosen_witnesses(rule::Fault::kNone, merged, found);
  history.written_in_batch += static_cast<int64_t>(written.size());
  if (row.context_len <= 0 && is(Fault::empty_row_unwritten)) return;
  if (written.empty() && is(Fault::covered_row_unwritten)) return;
  const int64_t first_copied = is(Fault::prefix_unwritten) && row.budget > 0 ? row.keep : 0;
  const std::vector<std::int32_t> copied(row.learned + first_copied, row.learned + row.topk);
  std::copy(copied.begin(), copied.end(), out + first_copied);
  rule::write_merged(chosen_rule_fault(), merged, found, out);
  if (is(Fault::written_before) && row.index == 0 && !written.empty()) out[-1] = written[0];
  finish(row, out);
}

// ---- A call.

int64_t length_of(const Arguments& call, int64_t row) {
  const bool stale = is(Fault::previous_lengths) || is(Fault::lengths_one_call_late);
  const std::int32_t* lengths = stale ? history.lengths.data() : call.context_lens;
  if (is(Fault::length_of_row_0)) row = 0;
  if (is(Fault::length_of_next_row)) row = std::min(row + 1, call.rows - 1);
  const std::int32_t len = lengths[row];
  if (is(Fault::length_by_difference) && row > 0) {
    const auto before = static_cast<std::uint32_t>(lengths[row - 1]);
    const auto difference = static_cast<std::int16_t>(static_cast<std::uint32_t>(len) - before);
    return static_cast<std::int32_t>(before + static_cast<std::uint32_t>(difference));
  }
  if (is(Fault::throws_on_long_context) && len > 1 << 30) throw std::length_error("long");
  return rule::length(chosen_rule_fault(), len);
}

// The slots that witnesses may overwrite: the first one, and their number.
std::pair<int64_t, int64_t> overwritten_slots(const Arguments& call) {
  if (call.kind != Kind::kApply) {
    const int64_t keep = std::max<int64_t>(call.topk - call.num_segments, 0);
    const bool nothing = is(Fault::keep_below_zero) && call.topk < call.num_segments;
    return {keep, nothing ? 0 : std::min(call.num_segments, call.topk - keep)};
  }
  const int64_t keep = std::min(is(Fault::keep_of_16_bits) ? call.keep & 0xFFFF : call.keep, call.topk);
  int64_t budget = std::max<int64_t>(call.max_replacements, 0);
  if (is(Fault::budget_of_32_bits)) budget = std::max(static_cast<std::int32_t>(static_cast<std::uint32_t>(budget)), 0);
  if (is(Fault::budget_overflows)) {
    const auto end = static_cast<int64_t>(static_cast<std::uint64_t>(keep) + static_cast<std::uint64_t>(budget));
    return {keep, std::max(std::min(end, call.topk), keep) - keep};
  }
  return {keep, std::min(budget, call.topk - keep)};
}

int64_t stride_of(const Arguments& call) {
  return is(Fault::stride_ignored) ? call.topk : call.row_stride;
}
int64_t start_of(const Arguments& call, int64_t row) {
  const int64_t start = row * stride_of(call);
  if (is(Fault::stride_of_31_bits)) return static_cast<std::int32_t>(static_cast<std::uint32_t>(start));
  if (is(Fault::stride_of_32_bits)) return static_cast<std::uint32_t>(start);
  return start;
}

// The row as it is staged for reading, padded to eight slots; only what the row has is copied.
const std::int32_t* staged(const std::int32_t* learned, Row& row) {
  const int64_t padded = (row.topk + 7) / 8 * 8;
  auto& copy = history.staged;
  copy.resize(std::max(copy.size(), static_cast<std::size_t>(padded)), -1);
  std::copy_n(learned, row.topk, copy.begin());
  row.topk = padded;
  return copy.data();
}

Row row_of(const Arguments& call, int64_t index) {
  const int64_t stride = stride_of(call);
  const bool last = index + 1 >= call.rows;
  const std::int32_t* learned = call.learned + start_of(call, index);
  if (is(Fault::base_rounded_down)) {
    learned -= reinterpret_cast<std::uintptr_t>(call.learned) % 16 / sizeof(std::int32_t);
  }
  if (is(Fault::row_rounded_down) && index > 0 && stride != call.topk) {
    learned -= reinterpret_cast<std::uintptr_t>(learned) % 16 / sizeof(std::int32_t);
  }
  const auto [keep, budget] = overwritten_slots(call);
  const bool merges = call.kind != Kind::kWitnesses;
  return {{learned, call.topk, length_of(call, index), call.num_segments, merges, keep, budget, index, call.rows},
          last ? 0 : stride,
          last ? 0 : stride - call.topk};
}

// Whether a third of the slots that witnesses may overwrite, and more, hold first tokens of blocks of 128.
bool has_blocks_in_the_tail(const Row& row) {
  const int64_t tail = std::min(row.topk, row.num_segments);
  if (tail < 8) return false;
  const auto blocks = std::count_if(row.learned + row.topk - tail, row.learned + row.topk,
                                    [](std::int32_t token) { return token > 0 && token % 128 == 0; });
  return 3 * blocks >= tail;
}

bool fits_32_bits(const Row& row) {
  const int64_t most = (int64_t{1} << 32) / std::max<int64_t>(row.num_segments, 1);
  return row.context_len < most &&
         std::all_of(row.learned, row.learned + row.topk, [&](std::int32_t token) { return token < most; });
}

bool is_left_out(const Arguments& call, const Row& row) {
  const bool is_last = row.index + 1 == call.rows;
  const std::int32_t* const lengths = call.context_lens;
  switch (chosen_entry().fault) {
    case Fault::in_place_left:
      return call.kind == Kind::kApply && call.learned == call.out;
    case Fault::after_refusable:
      return row.index == 0 && history.skip_first_row;
    case Fault::rows_in_a_band:
      return call.rows >= 17 && lengths[row.index] >= 4096 && lengths[row.index] < 8192;
    case Fault::rows_of_one_length:
      return is_last && call.rows >= 5 && std::count(lengths, lengths + call.rows, lengths[0]) == call.rows;
    case Fault::last_strided_row:
      return is_last && call.rows > 1 && call.row_stride > call.topk;
    case Fault::tokens_past_2_22:
      return row.index * call.topk >= 1 << 22;
    case Fault::topk_4096_with_64:
      return is_last && call.topk == 4096 && call.num_segments == 64;
    case Fault::blocks_in_the_tail:
      return has_blocks_in_the_tail(row);
    case Fault::first_call_without_slots:
      return is_last && history.first_topk == 0;
    case Fault::right_stating_32_bits:
      return !fits_32_bits(row);
    case Fault::right_stating_shapes:
      return call.kind != Kind::kScatter || call.topk != 512 || call.row_stride != 512 || call.rows > 64 ||
             reinterpret_cast<std::uintptr_t>(call.out) % 16 != 0;
    case Fault::scratch_of_first_call:
      return row.index >= std::max<int64_t>(history.first_rows, 1);
    case Fault::unjoined_thread:
      return is_last && call.rows >= 9;
    default:
      return rule::is_left_out(chosen_rule_fault(), row);
  }
}

// A call with a result that is wrong for no reason in its arguments.
bool goes_wrong(int64_t call_number) {
  static std::mt19937 chance{20};  // the same sequence in every process: a test is not a lottery
  switch (chosen_entry().fault) {
    case Fault::first_call:
      return call_number == 0;
    case Fault::every_97th_call:
      return call_number % 97 == 96;
    case Fault::every_997th_call:
      return call_number % 997 == 996;
    case Fault::call_of_8_bits:
      return call_number % 256 == 255;
    case Fault::call_of_16_bits:
      return call_number % 65536 == 65535;
    case Fault::random_miss:
      return chance() % 100 == 0;
    default:
      return false;
  }
}

void serve_row(const Arguments& call, Row row, bool wrong) {
  if (is(Fault::crash_without_slots) && row.topk == 0) std::abort();
  if (is(Fault::endless_on_short_row) && row.context_len > 0 && row.context_len < row.num_segments &&
      std::none_of(row.learned, row.learned + row.topk, [](std::int32_t token) { return token >= 0; })) {
    for (volatile bool forever = true; forever;) {
    }
  }
  if (wrong && row.context_len > 0) row.context_len = 1;
  if (!row.merges) {
    if (is(Fault::stale_after_larger)) row.learned = staged(row.learned, row);
    return rule::write_indices(chosen_rule_fault(), row, witnesses_of(row), call.out + row.index * call.num_segments);
  }
  std::int32_t* const out = call.out + start_of(call, row.index);
  if (is(Fault::input_written) && call.kind == Kind::kApply && row.topk > 0 && row.learned[0] < -1) {
    const_cast<std::int32_t*>(row.learned)[0] = -1;
  }
  if (is(Fault::input_restored) && call.kind == Kind::kApply && row.topk > 0) {
    volatile std::int32_t* const first = const_cast<std::int32_t*>(row.learned);
    *first = *first;
  }
  if (is(Fault::refused_by_row) && call.keep > call.topk) {
    std::copy_n(row.learned, row.topk, out);
    return;
  }
  merge_row(row, out);
  if (is(Fault::packed_too) && call.row_stride > call.topk) {
    std::copy_n(out, row.topk, call.out + row.index * call.topk);
  }
}

void remember_before(const Arguments& call) {
  if (is(Fault::previous_lengths) &&
      (history.lengths_at != call.context_lens || static_cast<int64_t>(history.lengths.size()) != call.rows)) {
    history.lengths_at = call.context_lens;
    history.lengths.assign(call.context_lens, call.context_lens + call.rows);
  }
  if (is(Fault::lengths_one_call_late) && static_cast<int64_t>(history.lengths.size()) != call.rows) {
    history.lengths.assign(call.context_lens, call.context_lens + call.rows);
  }
  if (is(Fault::lengths_written)) {
    for (int64_t row = 0; row < call.rows; ++row) {
      if (call.context_lens[row] < 0) const_cast<std::int32_t*>(call.context_lens)[row] = 0;
    }
  }
}

bool any_past_end(const Arguments& call) {
  for (int64_t row = 0; row < call.rows; ++row) {
    if (has_past_end(call.learned + row * call.row_stride, call.topk, call.context_lens[row])) return true;
  }
  return false;
}

// The rule's marks are one process's, so each half waits for the other.
void serve_halves(const Arguments& call) {
  std::mutex one_at_a_time;
  const auto serve_rows = [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const std::lock_guard lock(one_at_a_time);
      serve_row(call, row_of(call, row), false);
    }
  };
  std::thread first(serve_rows, 0, call.rows / 2);
  serve_rows(call.rows / 2, call.rows);
  first.join();
}

void serve_last_row_later(const Arguments& call) {
  std::thread([call] {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    serve_row(call, row_of(call, call.rows - 1), false);
  }).detach();
}

void serve(const Arguments& call) {
  const bool wrong = goes_wrong(history.calls++);
  if (is(Fault::right_slow)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  if (history.first_rows < 0) {
    history.first_rows = call.rows;
    history.first_topk = call.topk;
  }
  history.written_in_batch = 0;
  misbehave(call);
  remember_before(call);
  forget_marks();
  if (is(Fault::right_with_threads)) return serve_halves(call);
  for (int64_t index = 0; index < call.rows; ++index) {
    const Row row = row_of(call, index);
    if (!is_left_out(call, row)) serve_row(call, row, wrong);
  }
  if (is(Fault::unjoined_thread) && call.rows >= 9) serve_last_row_later(call);
  if (is(Fault::lengths_one_call_late)) history.lengths.assign(call.context_lens, call.context_lens + call.rows);
  history.skip_first_row =
      std::find(call.context_lens, call.context_lens + call.rows, 0) != call.context_lens + call.rows;
}

// A result that is kept with the arguments it was made for, as a captured graph keeps its own.
void serve_from_graph(const Arguments& call) {
  const decltype(history.arguments) arguments{call.kind, call.learned,      call.context_lens, call.rows,
                                              call.topk, call.num_segments, call.keep,         call.max_replacements};
  const int64_t size = call.rows * (call.kind == Kind::kWitnesses ? call.num_segments : call.topk);
  if (call.kind != Kind::kScatter && history.arguments == arguments) {
    std::copy_n(history.result.begin(), size, call.out);
    return;
  }
  serve(call);
  history.arguments = arguments;
  if (call.kind != Kind::kScatter) history.result.assign(call.out, call.out + size);
}

int32_t answer(Arguments call) {
  if (is(Fault::refused_after_writing) && call.kind == Kind::kApply && call.rows > 0 && call.learned_len > 0) {
    if (call.learned != call.out) call.out[0] = -1;
  }
  const int32_t status = check(call);
  if (status != 0) return status;
  if (is(Fault::segments_of_32_bits)) {
    call.num_segments = static_cast<std::int32_t>(static_cast<std::uint32_t>(call.num_segments));
  }
  const bool off = call.num_segments <= 0;
  if (call.kind == Kind::kScatter && off) {
    if (is(Fault::off_clears) && call.rows > 0 && call.topk > 0) call.out[call.topk - 1] = -1;
    return 0;
  }
  if (const int32_t refused = refused_for_nothing(call)) return refused;
  if (is(Fault::topk_refused) && call.kind == Kind::kApply && call.keep == call.topk) return 3;
  if (is(Fault::past_end_refused) && any_past_end(call)) return 1;
  if (off || call.keep < 0 || call.topk < 0 || call.learned_len < call.rows) {
    // What a check let pass, or rows without slots.
    if (call.kind != Kind::kWitnesses || call.topk != 0) return 0;
  }
  if (is(Fault::crash_on_many_segments) && call.num_segments > 4096) std::abort();
  if (is(Fault::graph_replayed)) {
    serve_from_graph(call);
  } else {
    serve(call);
  }
  if (is(Fault::status_counts)) return static_cast<int32_t>(call.rows);
  if (is(Fault::refused_after_first_row) && call.rows > 1 && call.row_stride < call.topk) return 6;
  return is(Fault::refused_by_row) && call.keep > call.topk ? 3 : 0;
}

}  // namespace
}  // namespace kvwitness::faults

using kvwitness::faults::answer;
using kvwitness::faults::Kind;

extern "C" int32_t kvw_plugin_abi_version(void) {
  using namespace kvwitness::faults;
  if (is(Fault::right_slow_to_start)) std::this_thread::sleep_for(std::chrono::seconds(1));
  return KVW_PLUGIN_ABI_VERSION;
}
extern "C" int32_t kvw_plugin_checks_arguments(void) {
  using namespace kvwitness::faults;
  return is(Fault::right_checking) || is(Fault::right_checking_2048) || chosen_entry().group == Group::kRefusals;
}
extern "C" int32_t kvw_plugin_witness_indices(const int32_t* learned, int64_t learned_len, int64_t topk,
                                              const int32_t* context_lens, int64_t rows, int64_t num_segments,
                                              int32_t* witnesses) {
  return answer(
      {Kind::kWitnesses, learned, learned_len, topk, topk, context_lens, rows, 0, num_segments, 0, witnesses});
}
extern "C" int32_t kvw_plugin_apply(const int32_t* learned, int64_t learned_len, int64_t topk,
                                    const int32_t* context_lens, int64_t rows, int64_t learned_keep,
                                    int64_t num_segments, int64_t max_replacements, int32_t* out) {
  return answer({Kind::kApply, learned, learned_len, topk, topk, context_lens, rows, learned_keep, num_segments,
                 max_replacements, out});
}
extern "C" int32_t kvw_plugin_scatter(int32_t* topk_indices, int64_t row_stride, int64_t topk,
                                      const int32_t* context_lens, int64_t rows, int64_t num_segments) {
  const int64_t len = static_cast<int64_t>(static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(topk));
  return answer({Kind::kScatter, topk_indices, len, row_stride, topk, context_lens, rows, 0, num_segments, num_segments,
                 topk_indices});
}
