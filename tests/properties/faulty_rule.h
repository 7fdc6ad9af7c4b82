// An implementation of the rule with one fault: what the harness is tested by.
//
// FaultyRule answers every call by a plain loop over the rule's formulas, with switches that each break one thing, and
// keeps a count of calls and the last call's occupancy as a stateful implementation would. restart() forgets both.
#ifndef TESTS_PROPERTIES_FAULTY_RULE_H
#define TESTS_PROPERTIES_FAULTY_RULE_H

#include <kvwitness/legality.h>
#include <kvwitness/oracle.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "properties/case/implementation.h"
#include "properties/case/status.h"

namespace kvwitness::harness {

struct Faults {
  bool edge_rounds_down = false;
  bool product_of_32_bits = false;  // token * S_eff wraps
  bool occupancy_by_exclusive_or = false;
  bool mask_of_32_bits = false;          // segments from 32 on share the bits below
  bool short_row_clamps_inside = false;  // marks S_eff - 1 for tokens past a short row
  bool only_minus_one_is_padding = false;
  bool reads_the_head_alone = false;
  bool occupancy_survives_rows = false;  // not cleared between the rows of a batch
  bool occupancy_survives_calls = false;
  bool keep_moves_when_dropped = false;  // one slot late where witnesses are dropped
  bool rows_count_to_65535 = false;      // the rest of the batch is left as it was
  bool accepts_65_segments = false;
  std::int64_t every_nth_call_is_wrong = 0;
  int misaligned_is_wrong = 0;         // base offsets that are no multiple of it
  std::int64_t hangs_on_segments = 0;  // no answer to this S
};

class FaultyRule final : public Implementation {
 public:
  explicit FaultyRule(std::string name, Faults faults, bool can_restart = true)
      : name_(std::move(name)), faults_(faults), can_restart_(can_restart) {}

  std::string name() const override { return name_; }
  bool supports(const Case& value) const override { return supports_ == nullptr || supports_(value); }
  bool checks_arguments() const override { return checks_arguments_; }
  bool restart() override {
    if (!can_restart_) return false;
    ++restarts_;
    calls_ = 0;
    occupied_ = 0;
    return true;
  }

  Outcome run_in(const Case& value, const MemoryContext&) override {
    std::vector<Outcome> prior_calls;
    for (const Case& earlier : value.prior_calls) {
      prior_calls.push_back(supports(earlier) ? answer(earlier) : Outcome::ended(Ending::kUnsupported, ""));
    }
    Outcome outcome = answer(value);
    outcome.prior_calls = std::move(prior_calls);
    return outcome;
  }

  // Several runs at a time, as an implementation far away likes them.
  void run_several(std::size_t most) { most_together_ = most; }
  std::size_t runs_together() const override { return most_together_; }
  std::vector<Outcome> run_together(std::span<const RunRequest> requests) override {
    if (requests.size() > 1) {
      batches_.emplace_back();
      for (const RunRequest& request : requests) batches_.back().push_back(*request.value);
    }
    return Implementation::run_together(requests);
  }
  int restarts() const { return restarts_; }
  // The cases that were run together, oldest batch first; those that were run alone are not among them.
  const std::vector<std::vector<Case>>& batches() const { return batches_; }

  void serve_only(std::function<bool(const Case&)> supports) { supports_ = std::move(supports); }
  void make_legal_calls_alone() { checks_arguments_ = false; }
  int hangs() const { return hangs_; }

 private:
  Outcome answer(const Case& value) {
    ++calls_;
    if (faults_.hangs_on_segments > 0 && value.num_segments == faults_.hangs_on_segments) {
      ++hangs_;
      return Outcome::ended(Ending::kHung, "no answer");
    }
    Outcome outcome;
    const bool in_place = value.operation == Operation::kScatter || value.in_place;
    outcome.status = status_for(value);
    const auto size = value.operation == Operation::kWitnesses
                          ? static_cast<std::size_t>(std::clamp<std::int64_t>(
                                value.rows() * std::min<std::int64_t>(value.num_segments, 1 << 16), 0, 1 << 22))
                          : value.learned.size();
    outcome.before = in_place ? value.learned : std::vector<std::int32_t>(size, -12345);
    outcome.rows = outcome.status != status::kOk || value.num_segments == 0 ? outcome.before : result_of(value);
    if (value.num_segments == 0 && outcome.status == status::kOk) outcome.rows = value.learned;
    const bool counted = faults_.every_nth_call_is_wrong > 0 && calls_ % faults_.every_nth_call_is_wrong == 0;
    const bool placed = faults_.misaligned_is_wrong > 0 && value.base_offset % faults_.misaligned_is_wrong != 0;
    if ((counted || placed) && !outcome.rows.empty() && outcome.status == status::kOk) outcome.rows.back() ^= 1;
    return outcome;
  }

  std::int32_t status_for(const Case& value) const {
    if (faults_.accepts_65_segments && value.num_segments == 65) {
      Case other = value;
      other.num_segments = 64;
      return expected_status(other, sees_stride(*this, value));
    }
    return expected_status(value, sees_stride(*this, value));
  }

  std::int64_t edge(std::int64_t segment, std::int64_t len, std::int64_t effective) const {
    return (segment * len + (faults_.edge_rounds_down ? 0 : effective - 1)) / effective;
  }

  // Segments above 63 are beyond the mask; their rows are answered by the oracle.
  std::uint64_t occupancy(std::span<const std::int32_t> row, std::int64_t len, std::int64_t segments) const {
    const std::int64_t effective = std::min(segments, len);
    std::uint64_t mask = 0;
    for (const std::int32_t token : row) {
      if (faults_.only_minus_one_is_padding ? token == -1 : token < 0) continue;
      std::int64_t segment = 0;
      if (faults_.product_of_32_bits) {
        segment =
            static_cast<std::uint32_t>(token) * static_cast<std::uint32_t>(effective) / static_cast<std::uint32_t>(len);
      } else {
        segment = std::int64_t{std::max(token, 0)} * effective / len;
      }
      segment = std::min(segment, (faults_.short_row_clamps_inside ? effective : segments) - 1);
      const std::uint64_t bit = std::uint64_t{1} << (faults_.mask_of_32_bits ? segment % 32 : segment);
      mask = faults_.occupancy_by_exclusive_or ? mask ^ bit : mask | bit;
    }
    return mask;
  }

  std::vector<std::int32_t> result_of(const Case& value) {
    if (value.num_segments > 64) return expected_rows(value);
    const bool witnesses = value.operation == Operation::kWitnesses;
    const auto topk = static_cast<std::size_t>(value.topk), segments = static_cast<std::size_t>(value.num_segments);
    const std::size_t keep = value.operation == Operation::kApply ? static_cast<std::size_t>(value.learned_keep)
                                                                  : topk - std::min(topk, segments);
    const std::size_t budget =
        std::min(value.operation == Operation::kApply ? static_cast<std::size_t>(value.max_replacements) : segments,
                 topk - keep);
    std::vector<std::int32_t> rows =
        witnesses ? std::vector<std::int32_t>(value.context_lens.size() * segments, -1) : value.learned;
    if (!faults_.occupancy_survives_calls) occupied_ = 0;
    for (std::size_t r = 0; r < value.context_lens.size(); ++r) {
      const std::int64_t len = value.context_lens[r];
      if (len <= 0 || (faults_.rows_count_to_65535 && r > 65535)) continue;
      const std::int64_t effective = std::min<std::int64_t>(value.num_segments, len);
      auto row = std::span(value.learned).subspan(r * topk, topk);
      if (faults_.reads_the_head_alone) row = row.first(witnesses ? topk : keep);
      if (!faults_.occupancy_survives_rows && !faults_.occupancy_survives_calls) occupied_ = 0;
      occupied_ |= occupancy(row, len, value.num_segments);
      std::vector<std::int32_t> edges;
      for (std::int64_t s = 0; s < effective; ++s) {
        if ((occupied_ >> (faults_.mask_of_32_bits ? s % 32 : s) & 1) != 0) continue;
        const auto at = static_cast<std::int32_t>(edge(s, len, effective));
        if (witnesses) rows[r * segments + static_cast<std::size_t>(s)] = at;
        edges.push_back(at);
      }
      if (witnesses) continue;
      const std::size_t written = std::min(edges.size(), budget);
      const bool late = faults_.keep_moves_when_dropped && edges.size() > budget && keep + written < topk;
      std::copy_n(edges.begin(), written, rows.begin() + static_cast<std::ptrdiff_t>(r * topk + keep + (late ? 1 : 0)));
    }
    return rows;
  }

  std::string name_;
  Faults faults_;
  bool can_restart_;
  bool checks_arguments_ = true;
  std::size_t most_together_ = 1;
  int restarts_ = 0;
  std::vector<std::vector<Case>> batches_;
  std::function<bool(const Case&)> supports_;
  std::int64_t calls_ = 0;
  int hangs_ = 0;
  std::uint64_t occupied_ = 0;
};

}  // namespace kvwitness::harness

#endif  // TESTS_PROPERTIES_FAULTY_RULE_H
