#include "fuzz/planted_faults/catalogue.h"

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace kvwitness::fuzz {
namespace {

struct Entry {
  const char* name;
  const char* what;
};

constexpr std::array kEntries = {
#define KVWITNESS_FAULT_ENTRY(fault, what) Entry{#fault, what},
    KVWITNESS_PLANTED_FAULTS(KVWITNESS_FAULT_ENTRY)
#undef KVWITNESS_FAULT_ENTRY
};

PlantedFault read_fault() {
  const char* const named = std::getenv("KVWITNESS_PLANTED_FAULT");
  const std::string_view name = named == nullptr ? "" : named;
  for (std::size_t i = 0; i < kEntries.size(); ++i) {
    if (kEntries[i].name == name) {
      return static_cast<PlantedFault>(i);
    }
  }
  std::fputs("KVWITNESS_PLANTED_FAULT names no fault; they are:\n", stderr);
  for (const Entry& entry : kEntries) {
    std::fprintf(stderr, "%s: %s\n", entry.name, entry.what);
  }
  std::exit(2);
}

}  // namespace

PlantedFault planted_fault() {
  static const PlantedFault fault = read_fault();
  return fault;
}

rule::Fault planted_rule_fault() {
  static const rule::Fault fault = rule::find_fault(kEntries[static_cast<std::size_t>(planted_fault())].name);
  return fault;
}

}  // namespace kvwitness::fuzz
