// A Domain: the calls that a person, an implementation or a property admits.
//
// What the options of `kvwitness verify` say, what a plug-in says of itself (kvw_plugin_domain) and what is found out by
// asking it are one value of this type. Generated cases, the calls that metamorphic relations derive, prior calls and
// the candidates of shrinking all lie within it.
#ifndef KVWITNESS_DOMAIN_H
#define KVWITNESS_DOMAIN_H

#include <kvwitness/case.h>

#include <cstdint>
#include <limits>
#include <vector>

namespace kvwitness::harness {

struct Domain {
  std::vector<Operation> operations = {};       // those that may be called; none admits no call
  bool legal_only = false;                      // no call that must be refused
  std::vector<std::int64_t> topk = {};          // empty: any
  std::vector<std::int64_t> num_segments = {};  // empty: any
  std::vector<std::int64_t> rows = {};          // empty: any number
  bool contiguous = false;                      // no row stride but topk
  std::int64_t align_bytes = 4;  // every base, and every row stride but topk, is a multiple of it; 4, 8, 16, 32 or 64
  std::int64_t max_context = std::numeric_limits<std::int32_t>::max();  // the longest context, at least 1
  std::int64_t max_rows = std::numeric_limits<std::int64_t>::max();     // of a batch, at least 1
  bool in_range = false;  // no token at or past its row's length, so that a row of length 0 or less holds padding

  friend bool operator==(const Domain&, const Domain&) = default;
};
// Every call of every operation, those that must be refused too.
Domain whole_domain();

// Whether the lists, bounds and flags of the domain leave out anything; operations and legal_only do not count.
bool is_narrow(const Domain& domain);

// What both admit.
Domain common_domain(const Domain& one, const Domain& other);

// Whether the case's own call lies within the domain, whatever its prior calls.
bool admits_call(const Domain& domain, const Case& value);

// Whether the case and each of its prior calls lie within the domain, a call that must be refused like any other. A
// token that belongs to no row of a malformed call is in range. Linear in the case's size.
bool admits_case(const Domain& domain, const Case& value);

}  // namespace kvwitness::harness

#endif  // KVWITNESS_DOMAIN_H
