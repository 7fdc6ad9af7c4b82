#include "fuzz/planted_faults/host_implementation.h"

#include <algorithm>
#include <string>
#include <vector>

#include "fuzz/planted_faults/catalogue.h"
#include "properties/implementations/registry.h"
#include "properties/sandbox/host_implementation.h"
#include "tests/rule/faulty_row.h"

namespace kvwitness::fuzz {
namespace {

using harness::Call;
using harness::Operation;

// Lets the real C ABI judge and make the call, then writes the rows again as the fault has them.
class PlantedHost final : public harness::HostImplementation {
 public:
  std::string name() const override { return "planted"; }
  bool honours_stride(Operation operation) const override { return real_->honours_stride(operation); }
  bool supports(const harness::Case& value) const override { return real_->supports(value); }

  Answer call(const Call& call) override {
    const std::vector<std::int32_t> learned = learned_rows(call);
    Answer answer = dynamic_cast<HostImplementation&>(*real_).call(call);
    if (answer.status == 0 && !learned.empty()) {
      rewrite(call, learned);
    }
    return answer;
  }

 private:
  // The rows before the call, packed; none of a call that will be refused or that does nothing.
  static std::vector<std::int32_t> learned_rows(const Call& call) {
    constexpr std::int64_t kMostSpanned = harness::kMaxSpannedElements;
    std::vector<std::int32_t> learned;
    const bool shaped = call.topk > 0 && call.rows > 0 && call.learned_len / call.topk == call.rows &&
                        call.learned_len % call.topk == 0;
    const bool packed = call.row_stride == call.topk;
    const bool scatters = call.num_segments > 0 && call.num_segments <= 64;
    const bool strided =
        shaped && scatters && call.row_stride > call.topk && call.row_stride <= kMostSpanned / call.rows;
    const bool legal = shaped && (packed || strided) && (call.operation != Operation::kScatter || scatters);
    for (std::int64_t row = 0; legal && row < call.rows; ++row) {
      const std::int32_t* const first = call.learned + row * call.row_stride;
      learned.insert(learned.end(), first, first + call.topk);
    }
    return learned;
  }

  void rewrite(const Call& call, const std::vector<std::int32_t>& learned) {
    const bool merges = call.operation != Operation::kWitnesses;
    const std::int64_t keep = learned_keep(call);
    const std::int64_t budget = merges ? budget_of(call) : 0;
    rule::Marks marks;
    for (std::int64_t index = 0; index < call.rows; ++index) {
      const std::int64_t of = fault_ == PlantedFault::neighbours_length && index >= 2 ? 1 : index;
      const rule::Row row{learned.data() + index * call.topk,
                          call.topk,
                          rule::length(rule_fault_, call.context_lens[of]),
                          call.num_segments,
                          merges,
                          keep,
                          budget,
                          index,
                          call.rows};
      const bool carries = fault_ == PlantedFault::state_across_rows && index > 0 && call.context_lens[index - 1] <= 0;
      if (!carries) marks.assign(static_cast<std::size_t>(call.num_segments), 0);
      mark(row, marks);
      write(call, row, rule::witnesses(rule_fault_, row, marks));
    }
  }

  void mark(rule::Row row, rule::Marks& marks) const {
    // An empty row writes nothing, but its marks are there for state_across_rows.
    constexpr std::int64_t kAnyLength = 16;
    constexpr std::size_t kMany = 1024;
    if (row.context_len <= 0) row.context_len = kAnyLength;
    rule::mark_tokens(rule_fault_, row, marks);
    if (fault_ == PlantedFault::many_segments_cut_off && marks.size() > kMany) {
      std::fill(marks.begin() + kMany, marks.end(), 0);
    }
  }

  void write(const Call& call, const rule::Row& row, const std::vector<std::int32_t>& found) const {
    if (!row.merges) return rule::write_indices(rule_fault_, row, found, call.out + row.index * call.num_segments);
    std::int32_t* const out = call.out + row.index * call.row_stride;
    std::copy_n(row.learned, call.topk, out);
    rule::write_merged(rule_fault_, row, found, out);
    if (fault_ == PlantedFault::writes_spare_column && call.row_stride > call.topk) out[call.topk] = -1;
  }

  static std::int64_t learned_keep(const Call& call) {
    switch (call.operation) {
      case Operation::kApply:
        return call.learned_keep;
      case Operation::kScatter:
        return std::max<std::int64_t>(0, call.topk - call.num_segments);
      default:
        return call.topk;
    }
  }

  std::int64_t budget_of(const Call& call) {
    const std::int64_t asked = call.operation == Operation::kApply ? call.max_replacements : call.num_segments;
    const std::int64_t now = std::min(asked, call.topk - learned_keep(call));
    const std::int64_t kept =
        fault_ == PlantedFault::budget_of_the_last_call && last_budget_ == 1 ? std::min<std::int64_t>(now, 1) : now;
    last_budget_ = asked;
    return kept;
  }

  const PlantedFault fault_ = planted_fault();
  const rule::Fault rule_fault_ = planted_rule_fault();
  std::unique_ptr<harness::Implementation> real_ = harness::make_c_abi();
  std::int64_t last_budget_ = 0;
};

}  // namespace

std::unique_ptr<harness::Implementation> make_planted_host() {
  return std::make_unique<PlantedHost>();
}

}  // namespace kvwitness::fuzz
