// An implementation of the rule with one fault, in this process: what the harness is tested by.
//
// FaultyRule answers every call by tests/rule/faulty_row.h, and keeps a count of calls and the last row's marks as a
// stateful implementation would. restart() forgets both.
#ifndef TESTS_PROPERTIES_FAULTY_RULE_H
#define TESTS_PROPERTIES_FAULTY_RULE_H

#include <kvwitness/legality.h>
#include <kvwitness/oracle.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "properties/case/implementation.h"
#include "properties/case/status.h"
#include "tests/rule/faulty_row.h"

namespace kvwitness::harness {

struct Faults {
  rule::Fault rule = rule::Fault::kNone;  // of each row's result
  bool occupancy_survives_calls = false;
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
    marks_.clear();
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
  // The cases that were run together, oldest batch first; those that were run by themselves are not among them.
  const std::vector<std::vector<Case>>& batches() const { return batches_; }

  void serve_only(std::function<bool(const Case&)> supports) { supports_ = std::move(supports); }
  void make_only_legal_calls() { checks_arguments_ = false; }
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

  std::vector<std::int32_t> result_of(const Case& value) {
    const bool merges = value.operation != Operation::kWitnesses;
    const std::int64_t segments = value.num_segments;
    const bool applies = value.operation == Operation::kApply;
    const std::int64_t keep = applies ? value.learned_keep : value.topk - std::min(value.topk, segments);
    const std::int64_t budget = std::min(applies ? value.max_replacements : segments, value.topk - keep);
    std::vector<std::int32_t> rows =
        merges ? value.learned : std::vector<std::int32_t>(static_cast<std::size_t>(value.rows() * segments), -1);
    if (!faults_.occupancy_survives_calls) marks_.clear();
    for (std::int64_t index = 0; index < value.rows(); ++index) {
      const rule::Row row{value.learned.data() + index * value.topk,
                          value.topk,
                          rule::length(faults_.rule, value.context_lens[static_cast<std::size_t>(index)]),
                          segments,
                          merges,
                          keep,
                          budget,
                          index,
                          value.rows()};
      if (!rule::is_left_out(faults_.rule, row)) {
        answer_row(row, rows.data() + index * (merges ? value.topk : segments));
      }
    }
    return rows;
  }

  void answer_row(const rule::Row& row, std::int32_t* out) {
    const bool keeps_marks = faults_.occupancy_survives_calls || faults_.rule == rule::Fault::mask_not_reset;
    const auto segments = static_cast<std::size_t>(row.num_segments);
    marks_.resize(keeps_marks ? std::max(marks_.size(), segments) : segments);
    if (!keeps_marks) std::ranges::fill(marks_, 0);
    if (row.context_len > 0) rule::mark_tokens(faults_.rule, row, marks_);
    const std::vector<std::int32_t> found = rule::witnesses(faults_.rule, row, marks_);
    if (row.merges) {
      rule::write_merged(faults_.rule, row, found, out);
    } else {
      rule::write_indices(faults_.rule, row, found, out);
    }
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
  rule::Marks marks_;
};

}  // namespace kvwitness::harness

#endif  // TESTS_PROPERTIES_FAULTY_RULE_H
