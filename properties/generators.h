// RapidCheck generators of cases: biased to edges, to structure and by swarms, with shrinking that keeps a legal case legal and a refused
// one refused for the same reason; and the classes whose occurrence each run must prove.
#ifndef PROPERTIES_GENERATORS_H
#define PROPERTIES_GENERATORS_H

#include <rapidcheck/Gen.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "properties/case.h"

namespace kvwitness::harness {

// The shapes an implementation or a person admits.
struct Domain {
  std::vector<Operation> operations;        // those that may be drawn; not empty
  bool legal_only = false;                  // no call that must be refused
  std::vector<std::int64_t> topk;           // empty: any
  std::vector<std::int64_t> num_segments;   // empty: any
  bool contiguous = false;                  // no row stride above topk
  std::int64_t align_bytes = 4;             // every base is a multiple of it
};

// A named kind of case. `floor_per_mille` is how many of a thousand drawn cases must fall into it at least.
struct CaseClass {
  std::string_view name;
  std::string_view what;
  int floor_per_mille;
  bool (*contains)(const Case&);
  bool (*possible)(const Domain&);  // whether the domain admits it at all
};
std::span<const CaseClass> all_case_classes();

rc::Gen<Case> case_generator(const Domain& domain);

// Every smaller case to try in place of a failing one, most promising first, without RapidCheck: for pinned cases, plug-ins and fuzzing.
std::vector<Case> shrink_candidates(const Case& value);

}  // namespace kvwitness::harness

#endif  // PROPERTIES_GENERATORS_H
