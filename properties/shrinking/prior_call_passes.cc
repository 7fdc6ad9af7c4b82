// Fewer and plainer prior calls.
#include <algorithm>
#include <cstddef>
#include <utility>

#include "properties/shrinking/passes.h"
#include "properties/shrinking/steps.h"

namespace kvwitness::harness::shrinking {
namespace {

// The least call of an operation that does something.
Case least_call(Operation operation) {
  Case value;
  value.operation = operation;
  value.topk = 1;
  value.num_segments = 1;
  value.max_replacements = operation == Operation::kApply ? 1 : 0;
  value.context_lens = {1};
  value.learned = {-1};
  return value;
}

}  // namespace

Edits fewer_calls(const Case& value) {
  Edits edits;
  for (const auto [begin, end] : chunks(value.prior_calls.size())) {
    edits.push_back([=](Case& edited) { erase_range(edited.prior_calls, begin, end); });
  }
  // A prior call may be the one that fails.
  for (std::size_t i = 0; i < std::min<std::size_t>(value.prior_calls.size(), 8); ++i) {
    edits.push_back([=](Case& edited) {
      std::vector<Case> calls = std::exchange(edited.prior_calls, {});
      edited = calls[i];
      calls.resize(i);
      edited.prior_calls = std::move(calls);
    });
  }
  return edits;
}

Edits plainer_prior_calls(const Case& value) {
  Edits edits;
  for (const Operation operation : {value.operation, Operation::kScatter}) {
    for (const auto [begin, end] : chunks(value.prior_calls.size())) {
      edits.push_back([=](Case& edited) {
        std::fill(edited.prior_calls.begin() + static_cast<std::ptrdiff_t>(begin),
                  edited.prior_calls.begin() + static_cast<std::ptrdiff_t>(end), least_call(operation));
      });
    }
  }
  if (value.prior_calls.size() > 8) {
    return edits;
  }
  for (std::size_t i = 0; i < value.prior_calls.size(); ++i) {
    for (Edit& edit : one_call_passes(value.prior_calls[i])) {
      edits.push_back([i, edit = std::move(edit)](Case& edited) { edit(edited.prior_calls[i]); });
    }
  }
  return edits;
}

}  // namespace kvwitness::harness::shrinking
