// The properties: every statement of the rule that an implementation can break, each written once under its fixed name.
//
// An invariant judges one run, a relation compares the run with others that it asks for. Both have the same signature,
// so the runner, the replayer, the fuzz targets and ctest treat them alike.
#ifndef PROPERTIES_RULES_PROPERTY_H
#define PROPERTIES_RULES_PROPERTY_H

#include <kvwitness/case.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

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
  // kBroken, relations alone: the further case whose run contradicts the first one, so that a person can see both.
  std::optional<Case> compared_with;

  static Verdict holds() { return {}; }
  static Verdict silent() { return {.kind = Kind::kSilent, .what = {}, .difference = {}, .compared_with = {}}; }
};

struct Property {
  std::string_view name;       // as in `kvwitness list`
  std::string_view statement;  // the sentence of the rule, shown with a failure
  bool uses_oracle;            // whether it needs the expected answer, or stands by itself
  bool relation;               // whether it asks for further runs
  // Whether the property says anything about this operation.
  bool (*concerns)(Operation);
  // `outcome` is `implementation`'s on `value`. Relations run further cases on it, all within its domain.
  Verdict (*judge)(const Case& value, const Outcome& outcome, Implementation& implementation);
};

// All properties in the order of `kvwitness list`.
std::span<const Property> all_properties();
const Property* find_property(std::string_view name);

}  // namespace kvwitness::harness

#endif  // PROPERTIES_RULES_PROPERTY_H
