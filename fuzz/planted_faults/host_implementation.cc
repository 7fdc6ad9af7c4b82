#include "fuzz/planted_faults/host_implementation.h"

#include <string>
#include <vector>

#include "fuzz/planted_faults/catalogue.h"
#include "fuzz/planted_faults/rule.h"
#include "properties/implementations/registry.h"
#include "properties/sandbox/host_implementation.h"

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
    std::vector<bool> marked;
    for (std::int64_t row = 0; row < call.rows; ++row) {
      const std::int64_t of = fault_ == PlantedFault::neighbours_length && row >= 2 ? 1 : row;
      const std::int64_t context_len = planted_length(fault_, call.context_lens[of]);
      const bool carries = fault_ == PlantedFault::state_across_rows && row > 0 && call.context_lens[row - 1] <= 0;
      if (!carries || marked.size() != static_cast<std::size_t>(call.num_segments)) {
        marked.assign(static_cast<std::size_t>(call.num_segments), false);
      }
      // An empty row writes nothing, but its marks are there for state_across_rows.
      constexpr std::int64_t kAnyLength = 16;
      mark(call, learned.data() + row * call.topk, context_len > 0 ? context_len : kAnyLength, marked);
      write(call, row, learned.data() + row * call.topk, context_len, marked);
    }
  }

  void mark(const Call& call, const std::int32_t* tokens, std::int64_t context_len, std::vector<bool>& marked) const {
    constexpr std::int64_t kMany = 1024;
    for (std::int64_t slot = 0; slot < call.topk; ++slot) {
      const std::int64_t segment =
          planted_mark(fault_, slot, tokens[slot], context_len, call.num_segments, call.topk, learned_keep(call));
      if (segment < 0 || (fault_ == PlantedFault::many_segments_cut_off && segment >= kMany)) {
        continue;
      }
      const auto at = static_cast<std::size_t>(segment);
      marked[at] = fault_ != PlantedFault::toggled_bit || !marked[at];
    }
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

  void write(const Call& call, std::int64_t row, const std::int32_t* tokens, std::int64_t context_len,
             const std::vector<bool>& marked) {
    const std::int64_t effective = context_len <= 0 ? 0 : planted_effective(fault_, context_len, call.num_segments);
    if (call.operation == Operation::kWitnesses) {
      for (std::int64_t segment = 0; segment < call.num_segments; ++segment) {
        const bool witness = segment < effective && !marked[static_cast<std::size_t>(segment)];
        call.out[row * call.num_segments + segment] =
            witness ? static_cast<std::int32_t>(planted_edge(fault_, segment, context_len, effective)) : -1;
      }
      return;
    }
    std::int32_t* const out = call.out + row * call.row_stride;
    std::copy(tokens, tokens + call.topk, out);
    std::int64_t slot = learned_keep(call);
    const std::int64_t end = slot + planted_budget(fault_, budget(call), slot, call.topk);
    for (std::int64_t segment = 0; segment < effective && slot < end; ++segment) {
      if (!marked[static_cast<std::size_t>(segment)]) {
        out[slot++] = static_cast<std::int32_t>(planted_edge(fault_, segment, context_len, effective));
      }
    }
    if (fault_ == PlantedFault::writes_spare_column && call.row_stride > call.topk) {
      out[call.topk] = -1;
    }
  }

  std::int64_t budget(const Call& call) {
    const std::int64_t asked = call.operation == Operation::kApply ? call.max_replacements : call.num_segments;
    const std::int64_t now = std::min(asked, call.topk - learned_keep(call));
    const std::int64_t kept =
        fault_ == PlantedFault::budget_of_the_last_call && last_budget_ == 1 ? std::min<std::int64_t>(now, 1) : now;
    last_budget_ = asked;
    return kept;
  }

  const PlantedFault fault_ = planted_fault();
  std::unique_ptr<harness::Implementation> real_ = harness::make_c_abi();
  std::int64_t last_budget_ = 0;
};

}  // namespace

std::unique_ptr<harness::Implementation> make_planted_host() {
  return std::make_unique<PlantedHost>();
}

}  // namespace kvwitness::fuzz
