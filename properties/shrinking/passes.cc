#include "properties/shrinking/passes.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace kvwitness::harness::shrinking {
namespace {

bool same_size(const Case& a, const Case& b) {
  return a.topk == b.topk && a.num_segments == b.num_segments && a.context_lens.size() == b.context_lens.size() &&
         a.learned.size() == b.learned.size();
}

// A fault may need a prior call of the same size, so both must be made smaller at once.
template <Edits (*pass)(const Case&)>
Edits with_prior_calls(const Case& value) {
  Edits edits;
  if (std::ranges::none_of(value.prior_calls, [&](const Case& call) { return same_size(call, value); })) {
    return edits;
  }
  for (Edit& edit : pass(value)) {
    edits.push_back([edit = std::move(edit)](Case& edited) {
      const Case before = edited;
      for (Case& call : edited.prior_calls) {
        if (same_size(call, before)) {
          edit(call);
        }
      }
      edit(edited);
    });
  }
  return edits;
}

// Of one call, whatever its prior calls.
constexpr Pass kOneCallPasses[] = {drop_rows,       drop_slots,      drop_values,    plainer_call,   smaller_counts,
                                   coupled_lengths, shorter_lengths, coupled_tokens, plainer_tokens, earlier_slots};

// Of a case with its prior calls, in the order in which the loop takes them.
constexpr Pass kPasses[] = {fewer_calls,
                            drop_rows,
                            drop_slots,
                            drop_values,
                            plainer_call,
                            smaller_counts,
                            narrower_rows,
                            coupled_lengths,
                            shorter_lengths,
                            coupled_tokens,
                            plainer_tokens,
                            earlier_slots,
                            with_prior_calls<drop_rows>,
                            with_prior_calls<drop_slots>,
                            with_prior_calls<smaller_counts>,
                            with_prior_calls<shorter_lengths>,
                            plainer_prior_calls};

}  // namespace

Edits one_call_passes(const Case& value) {
  Edits all;
  for (const Pass pass : kOneCallPasses) {
    Edits edits = pass(value);
    std::ranges::move(edits, std::back_inserter(all));
  }
  return all;
}

std::span<const Pass> all_passes() {
  return kPasses;
}

bool drops(Pass pass) {
  return pass == fewer_calls || pass == drop_rows || pass == drop_slots || pass == drop_values;
}

}  // namespace kvwitness::harness::shrinking
