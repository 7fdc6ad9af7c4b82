// From a failure to its likely cause, in words, where what went wrong has a known shape.
//
// Most mistakes in this rule are old acquaintances: an edge rounded down, a mask of 32 bits, padding read as an unsigned
// token. Each is the rule with one thing read in another way, so a table holds those readings, and a cause is one whose answer is,
// slot by slot, what the implementation gave: for the minimal case and for the one that was found.
#ifndef PROPERTIES_RUN_LIKELY_CAUSE_H
#define PROPERTIES_RUN_LIKELY_CAUSE_H

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "properties/run/results.h"
#include "properties/run/wrong_row.h"

namespace kvwitness::harness {

// Every known mistake that gives all of these rows, the most particular first: "segment edges are rounded down", ... Empty
// where none does, and for rows above 2^17 slots or segments.
std::vector<std::string> misreadings_behind(std::span<const WrongRow> rows);

// The words of every mistake that is told by a table; misreadings_behind() knows some that name a slot or a row besides.
std::vector<std::string_view> known_misreadings();

// Names the likely cause of each counterexample of an implementation: of how the call ended, what it wrote and what the
// minimal case needs, otherwise of its wrong rows. Where several mistakes give those, the one that explains most of the
// implementation's failures.
void name_likely_causes(ImplementationResult& result);

}  // namespace kvwitness::harness

#endif  // PROPERTIES_RUN_LIKELY_CAUSE_H
