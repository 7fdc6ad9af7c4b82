// The properties: every statement of the rule that an implementation can break, each under its fixed name.
//
// A property is one descriptor in the table of properties.cc. An invariant judges one run; a metamorphic relation
// compares the run with further runs that it asks for. Both are judged by the same call, so the runner, the replayer,
// the fuzz targets and ctest treat them alike. properties/README.md says how to add one.
#ifndef PROPERTIES_RULES_PROPERTY_H
#define PROPERTIES_RULES_PROPERTY_H

#include <kvwitness/case.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "properties/case/implementation.h"
#include "properties/case/outcome.h"

namespace kvwitness::harness {

// Where a result first differs from what it must be.
struct Difference {
  std::int64_t row = -1;
  std::int64_t slot = -1;
  std::int64_t expected = 0;
  std::int64_t actual = 0;
  friend bool operator==(const Difference&, const Difference&) = default;
};

struct Verdict {
  enum class Kind : std::uint8_t { kHolds, kBroken, kSilent };  // silent: the statement says nothing about this case
  Kind kind = Kind::kHolds;
  std::string what;                      // kBroken: one sentence with the values
  std::optional<Difference> difference;  // kBroken, where one slot can be named
  // kBroken, only of metamorphic relations: the further case whose run contradicts the first one, so that a person can
  // see both.
  std::optional<Case> compared_with;
  // With compared_with, where that run left rows: those of its own call.
  std::vector<std::int32_t> compared_rows = {};
  bool is_outside_domain = false;  // kSilent, only of metamorphic relations: the call to compare with is not admitted

  static Verdict holds() { return {}; }
  static Verdict silent() {
    return {.kind = Kind::kSilent, .what = {}, .difference = {}, .compared_with = {}, .is_outside_domain = false};
  }
  static Verdict outside_domain() {
    Verdict verdict = silent();
    verdict.is_outside_domain = true;
    return verdict;
  }
};

// What most cases of a property's stream are about, because it is silent on most others.
enum class Focus : std::uint8_t {
  kEverything,
  kRefusals,
  kInRange,
  kEmptyRows,
  kShortRows,
  kOutOfRange,
  kPadding,
  kManyWitnesses
};

// Which calls a property is about.
enum class Calls : std::uint8_t {
  kAll,
  // Those that the implementation must accept, as it sees them. One that does not return, is refused or leaves a result
  // of another size breaks the property.
  kLegal,
  // The same without a scatter that is switched off (num_segments 0).
  kSelecting,
};

// What a property is silent without.
struct Needs {
  Calls calls = Calls::kAll;
  // An implementation that promises the refusals.
  bool argument_checks = false;
  // An implementation that has peers: one of the library's own.
  bool peers = false;
  // So many rows in the batch.
  std::int64_t rows = 0;
};

inline bool any_operation(Operation) {
  return true;
}

using Judge = Verdict(const Case& value, const Outcome& outcome, Implementation& implementation);

struct Property {
  std::string_view name;       // as in `kvwitness list`
  std::string_view statement;  // the sentence of the rule, shown with a failure
  // Whether the property says anything about this operation.
  bool (*concerns)(Operation) = any_operation;
  Needs needs = {};
  Focus focus = Focus::kEverything;
  bool uses_oracle = false;              // whether it needs the expected answer, or stands by itself
  bool is_metamorphic_relation = false;  // whether it asks for further runs
  bool judges_large_calls = false;  // whether a call of millions of tokens is judged in little more than its copying
  Judge* judge_run = nullptr;       // called only where what the property needs is there

  // The verdict on `outcome`, which is `implementation`'s on `value`. Silent where something that the property needs is
  // not there and on a call that the implementation does not support. Metamorphic relations run further cases on the
  // implementation, all within its domain.
  Verdict judge(const Case& value, const Outcome& outcome, Implementation& implementation) const;

  // Why the property says nothing of this implementation, whatever the case; "" where it may be judged.
  std::string_view why_not_provided(const Implementation& implementation) const;
};

// All properties in the order of `kvwitness list`.
std::span<const Property> all_properties();
const Property* find_property(std::string_view name);

}  // namespace kvwitness::harness

#endif  // PROPERTIES_RULES_PROPERTY_H
