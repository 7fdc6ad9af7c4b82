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
#include <vector>

#include "tests/faults/faulty_checks.h"
#include "tests/faults/faulty_process.h"
#include "tests/faults/faulty_row.h"

namespace kvwitness::faults {

Fault chosen_fault() {
  static const Fault fault = [] {
    Dl_info info{};
    dladdr(reinterpret_cast<const void*>(&kvw_plugin_abi_version), &info);
    const FaultEntry* entry = find_fault(std::filesystem::path(info.dli_fname).stem().string());
    if (entry == nullptr) throw std::runtime_error("the file's name is none of the faults");
    return entry->fault;
  }();
  return fault;
}

namespace {

// What earlier calls of the process left behind.
struct History {
  int64_t calls = 0;
  bool skip_first_row = false;
  std::vector<std::int32_t> staged;  // a row's copy, as long as the longest row so far
  int64_t written_in_batch = 0;
  int64_t first_rows = -1;
  const std::int32_t* lengths_at = nullptr;
  std::vector<std::int32_t> lengths;
  std::tuple<Kind, const void*, const void*, int64_t, int64_t, int64_t, int64_t, int64_t> arguments{};
  std::vector<std::int32_t> result;
};
History history;

bool has_past_end(const std::int32_t* row, int64_t topk, int64_t len) {
  return len > 0 && std::any_of(row, row + topk, [&](std::int32_t token) { return token >= len; });
}

// ---- The merge.

// A ballot of each half of a 64-bit mask, the upper one first.
void swap_halves(const std::vector<std::int32_t>& found, std::vector<std::int32_t>& list) {
  const auto low = std::count_if(found.begin(), found.begin() + 32, [](std::int32_t token) { return token >= 0; });
  std::rotate(list.begin(), list.begin() + low, list.end());
}

// Witnesses that would find room: the budget's first, unless the fault says otherwise.
std::vector<std::int32_t> chosen_witnesses(const Row& row, const std::vector<std::int32_t>& found) {
  std::vector<std::int32_t> list;
  std::copy_if(found.begin(), found.end(), std::back_inserter(list), [](std::int32_t token) { return token >= 0; });
  int64_t room = row.merge.budget;
  if (is(Fault::budget_one_more)) room = std::min(room + 1, row.topk - row.merge.keep);
  if (is(Fault::budget_one_less) && room > 0) --room;
  if (is(Fault::budget_ignored)) room = row.topk - row.merge.keep;
  if (is(Fault::last_slot_loses_63) && row.topk - row.merge.keep == 1 && list.size() == 1 && found.size() == 64 &&
      found[63] >= 0) {
    room = 0;
  }
  if (is(Fault::room_above_64) && list.size() == 64 && room > 64) room = 63;
  if (is(Fault::budget_of_63)) room = std::min<int64_t>(room, 63);
  if (is(Fault::tail_kept_at_4096)) room = std::clamp<int64_t>(4096 - row.merge.keep, 0, room);
  if (is(Fault::budget_of_the_batch)) {
    room = std::min(room, std::max<int64_t>(row.merge.budget - history.written_in_batch, 0));
    history.written_in_batch += std::min(room, static_cast<int64_t>(list.size()));
  }
  if (is(Fault::halves_swapped) && found.size() > 32) swap_halves(found, list);
  const auto count = static_cast<std::ptrdiff_t>(std::min(static_cast<int64_t>(list.size()), room));
  if (is(Fault::budget_drops_first)) list.erase(list.begin(), list.end() - count);
  list.resize(static_cast<std::size_t>(count));
  if (is(Fault::descending)) std::reverse(list.begin(), list.end());
  if (is(Fault::witness_repeated) && !list.empty()) list.resize(static_cast<std::size_t>(room), list.back());
  if (is(Fault::unused_tail_cleared)) list.resize(static_cast<std::size_t>(room), -1);
  return list;
}

int64_t first_slot(const Row& row, std::size_t count) {
  const int64_t keep = row.merge.keep, topk = row.topk;
  if (is(Fault::keep_one_more)) return std::min(keep + 1, std::max(topk - static_cast<int64_t>(count), keep));
  if (is(Fault::keep_one_less) || (is(Fault::keep_of_late_rows) && row.index >= 65536)) {
    return std::max<int64_t>(keep - 1, 0);
  }
  if (is(Fault::keep_rounded_down)) return keep / 4 * 4;
  if (is(Fault::right_aligned)) return topk - static_cast<int64_t>(count);
  return keep;
}

// Witnesses by and by, each looked for in what the row has become.
void merge_by_rereading(const Row& row, std::int32_t* out) {
  Row present = row;
  present.learned = out;
  for (int64_t slot = row.merge.keep; slot < row.merge.keep + row.merge.budget; ++slot) {
    const std::vector<std::int32_t> found = witnesses_of(present);
    const auto next = std::find_if(found.begin(), found.end(), [](std::int32_t token) { return token >= 0; });
    if (next == found.end()) return;
    out[slot] = *next;
  }
}

void write_into_padding(const Row& row, const std::vector<std::int32_t>& list, std::int32_t* out) {
  auto next = list.begin();
  for (int64_t slot = row.merge.keep; slot < row.topk && next != list.end(); ++slot) {
    if (out[slot] < 0) out[slot] = *next++;
  }
}

// What some do with a merged row that is finished.
void finish(const Row& row, std::int32_t* out) {
  std::int32_t* const end = out + row.topk;
  if (is(Fault::row_sorted)) std::sort(out, end);
  for (std::int32_t* token = out; token != end; ++token) {
    if (is(Fault::past_end_removed) && row.context_len > 0 && *token >= row.context_len) *token = -1;
    if (is(Fault::duplicates_removed) && std::find(out, token, *token) != token) *token = -1;
  }
  if (is(Fault::kept_all_written) && row.merge.keep == row.topk && row.topk > 0 && row.context_len > 0) {
    out[row.topk - 1] = 0;
  }
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
  const bool in_place = row.learned == out;
  if (is(Fault::in_place_read_late) && in_place && row.merge.budget > 0) out[row.merge.keep] = -1;
  const std::vector<std::int32_t> given(row.learned, row.learned + row.topk);
  std::vector<std::int32_t> list = chosen_witnesses(row, witnesses_of(row));
  if (row.context_len <= 0 && is(Fault::empty_row_unwritten)) return;
  if (list.empty() && is(Fault::covered_row_unwritten)) return;
  const auto kept = is(Fault::prefix_unwritten) && row.merge.budget > 0 ? row.merge.keep : 0;
  std::copy(given.begin() + kept, given.end(), out + kept);
  if (is(Fault::padding_compacted) && row.context_len > 0) {
    const auto is_padding = [](std::int32_t token) { return token < 0; };
    std::copy_if(given.begin(), given.end(), std::remove_copy_if(given.begin(), given.end(), out, is_padding),
                 is_padding);
  }
  if (is(Fault::read_after_overwrite)) return merge_by_rereading(row, out);
  if (is(Fault::padding_alone_overwritten)) return write_into_padding(row, list, out);
  const int64_t first = first_slot(row, list.size());
  const auto room = static_cast<std::size_t>(std::max<int64_t>(row.topk - first, 0));
  std::copy_n(list.begin(), static_cast<std::ptrdiff_t>(std::min(list.size(), room)), out + first);
  if (is(Fault::written_before) && row.index == 0 && !list.empty()) out[-1] = list[0];
  finish(row, out);
}

void write_indices(const Row& row, std::int32_t* out) {
  const std::vector<std::int32_t> found = witnesses_of(row);
  if (is(Fault::indices_without_slots) && row.topk == 0) return;
  if (!is(Fault::indices_rest_unwritten)) std::fill_n(out, row.num_segments, is(Fault::indices_rest_zero) ? 0 : -1);
  std::int32_t* next = out;
  for (std::size_t s = 0; s < found.size(); ++s) {
    if (is(Fault::indices_compacted)) {
      if (found[s] >= 0) *next++ = found[s];
    } else if (found[s] >= 0 || is(Fault::indices_rest_unwritten)) {
      out[s] = found[s];
    }
  }
}

// ---- A call.

int64_t length_of(const Arguments& call, int64_t row) {
  const bool stale = is(Fault::previous_lengths) || is(Fault::lengths_one_call_late);
  const std::int32_t* lengths = stale ? history.lengths.data() : call.context_lens;
  if (is(Fault::length_of_row_0)) row = 0;
  if (is(Fault::length_of_next_row)) row = std::min(row + 1, call.rows - 1);
  const std::int32_t len = lengths[row];
  if (is(Fault::length_unsigned) && len < 0) return static_cast<std::uint32_t>(len);
  if (is(Fault::length_0_as_1) && len == 0) return 1;
  if (is(Fault::length_of_15_bits)) return static_cast<std::int16_t>(len);
  if (is(Fault::length_by_difference) && row > 0) {
    const auto before = static_cast<std::uint32_t>(lengths[row - 1]);
    const auto difference = static_cast<std::int16_t>(static_cast<std::uint32_t>(len) - before);
    return static_cast<std::int32_t>(before + static_cast<std::uint32_t>(difference));
  }
  if (is(Fault::throws_on_long_context) && len > 1 << 30) throw std::length_error("long");
  return len;
}

Merge merge_of(const Arguments& call) {
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
  return {learned,
          call.topk,
          length_of(call, index),
          call.num_segments,
          merge_of(call),
          index,
          last ? 0 : stride,
          last ? 0 : stride - call.topk,
          call.kind != Kind::kWitnesses,
          call.rows};
}

bool is_left_out(const Arguments& call, int64_t row) {
  const bool is_last = row + 1 == call.rows;
  switch (chosen_fault()) {
    case Fault::rows_above_1024:
      return row >= 1024;
    case Fault::rows_above_1024_of_64:
      return row >= 1024 && call.num_segments > 32;
    case Fault::rows_above_65535:
    case Fault::rows_of_16_bits:
      return row >= 65536;
    case Fault::odd_last_row:
      return call.rows > 1 && call.rows % 2 == 1 && row == call.rows - 1;
    case Fault::rows_of_65536:
      return call.rows % 65536 == 0;
    case Fault::rows_above_131072:
      return row >= 131072;
    case Fault::rows_above_256_without_slots:
      return row >= 256 && call.topk == 0;
    case Fault::wide_batch:
      return row >= 256 && call.topk >= 512;
    case Fault::in_place_left:
      return call.kind == Kind::kApply && call.learned == call.out;
    case Fault::after_refusable:
      return row == 0 && history.skip_first_row;
    case Fault::rows_of_64:
      return is_last && call.rows % 64 == 0;
    case Fault::rows_41_to_200:
      return is_last && call.rows > 40 && call.rows <= 200;
    case Fault::rows_4_to_32_of_512:
      return is_last && call.rows >= 4 && call.rows <= 32 && call.topk >= 512;
    case Fault::rows_in_a_band:
      return call.rows >= 17 && call.context_lens[row] >= 4096 && call.context_lens[row] < 8192;
    case Fault::rows_of_one_length:
      return is_last && call.rows >= 5 &&
             std::count(call.context_lens, call.context_lens + call.rows, call.context_lens[0]) == call.rows;
    case Fault::last_strided_row:
      return is_last && call.rows > 1 && call.row_stride > call.topk;
    case Fault::scratch_of_first_call:
      return row >= std::max<int64_t>(history.first_rows, 1);
    case Fault::unjoined_thread:
      return is_last && call.rows >= 9;
    default:
      return false;
  }
}

// A call with a result that is wrong for no reason in its arguments.
bool goes_wrong(int64_t call_number) {
  static std::mt19937 chance{20};  // the same sequence in every process: a test is not a lottery
  switch (chosen_fault()) {
    case Fault::first_call:
      return call_number == 0;
    case Fault::every_97th_call:
      return call_number % 97 == 96;
    case Fault::every_997th_call:
      return call_number % 997 == 996;
    case Fault::call_of_8_bits:
      return call_number % 256 == 255;
    case Fault::random_miss:
      return chance() % 100 == 0;
    default:
      return false;
  }
}

void serve_row(const Arguments& call, int64_t index, bool wrong) {
  Row row = row_of(call, index);
  if (is(Fault::crash_without_slots) && row.topk == 0) std::abort();
  if (is(Fault::endless_on_short_row) && row.context_len > 0 && row.context_len < row.num_segments &&
      std::none_of(row.learned, row.learned + row.topk, [](std::int32_t token) { return token >= 0; })) {
    for (volatile bool forever = true; forever;) {
    }
  }
  if (wrong && row.context_len > 0) row.context_len = 1;
  if (!row.merges) {
    if (is(Fault::stale_after_larger)) row.learned = staged(row.learned, row);
    return write_indices(row, call.out + index * call.num_segments);
  }
  std::int32_t* const out = call.out + start_of(call, index);
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
  if (is(Fault::packed_too) && call.row_stride > call.topk) std::copy_n(out, row.topk, call.out + index * call.topk);
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
      serve_row(call, row, false);
    }
  };
  std::thread first(serve_rows, 0, call.rows / 2);
  serve_rows(call.rows / 2, call.rows);
  first.join();
}

void serve_last_row_later(const Arguments& call) {
  std::thread([call] {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    serve_row(call, call.rows - 1, false);
  }).detach();
}

void serve(const Arguments& call) {
  const bool wrong = goes_wrong(history.calls++);
  if (is(Fault::right_slow)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  if (history.first_rows < 0) history.first_rows = call.rows;
  history.written_in_batch = 0;
  misbehave(call);
  remember_before(call);
  forget_marks();
  if (is(Fault::right_with_threads)) return serve_halves(call);
  for (int64_t row = 0; row < call.rows; ++row) {
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
using kvwitness::faults::Arguments;
using kvwitness::faults::Kind;

extern "C" int32_t kvw_plugin_abi_version(void) {
  using namespace kvwitness::faults;
  if (is(Fault::right_slow_to_start)) std::this_thread::sleep_for(std::chrono::seconds(1));
  return KVW_PLUGIN_ABI_VERSION;
}
extern "C" int32_t kvw_plugin_checks_arguments(void) {
  using namespace kvwitness::faults;
  return is(Fault::right_checking) || is(Fault::right_checking_2048) ||
         kFaults[static_cast<std::size_t>(chosen_fault())].group == Group::kRefusals;
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
