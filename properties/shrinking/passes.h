// The passes: what shrinking tries in place of a case, by what it changes.
//
// A pass lists edits of the case that it is given, boldest first. An edit may make something that is no simpler, or of
// another status: the loop (shrinking.cc) looks. A new pass is a function and its place in the list of passes.cc.
#ifndef PROPERTIES_SHRINKING_PASSES_H
#define PROPERTIES_SHRINKING_PASSES_H

#include <kvwitness/case.h>

#include <functional>
#include <span>
#include <vector>

namespace kvwitness::harness::shrinking {

using Edit = std::function<void(Case&)>;
using Edits = std::vector<Edit>;
using Pass = Edits (*)(const Case&);

// row_passes.cc: fewer rows, fewer slots, fewer values.
Edits drop_rows(const Case& value);
Edits drop_slots(const Case& value);
// For calls whose learned rows do not fit their counts: values and the width by themselves.
Edits drop_values(const Case& value);
// Slots and segments at once: a fault may need one to be as many as the other.
Edits narrower_rows(const Case& value);

// number_passes.cc: a plainer call, smaller counts, shorter contexts, plainer tokens.
Edits plainer_call(const Case& value);
Edits smaller_counts(const Case& value);
Edits shorter_lengths(const Case& value);
Edits plainer_tokens(const Case& value);

// coupled_passes.cc: values that a fault may need to change together.
// Columns of all rows at once, equal values wherever they stand, and all tokens by one function.
Edits coupled_tokens(const Case& value);
// All lengths by one factor, rows that do not matter, and a length with the tokens near its end.
Edits coupled_lengths(const Case& value);
// Tokens to the front of their rows.
Edits earlier_slots(const Case& value);

// prior_call_passes.cc: fewer prior calls and plainer ones.
Edits fewer_calls(const Case& value);
Edits plainer_prior_calls(const Case& value);

// passes.cc: the edits of every pass that changes one call, whatever its prior calls.
Edits one_call_passes(const Case& value);
// Every pass, in the order in which the loop takes them.
std::span<const Pass> all_passes();
// Whether the pass drops calls, rows, slots or values: what it achieves saves the others most of their attempts.
bool drops(Pass pass);

}  // namespace kvwitness::harness::shrinking

#endif  // PROPERTIES_SHRINKING_PASSES_H
