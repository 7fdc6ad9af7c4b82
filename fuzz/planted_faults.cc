#include "fuzz/planted_faults.h"

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace kvwitness::fuzz {
namespace {

struct Entry {
  const char* name;
  const char* targets;
  const char* what;
};

constexpr std::array kEntries = {
#define KVWITNESS_FAULT_ENTRY(fault, targets, what) Entry{#fault, targets, what},
    KVWITNESS_PLANTED_FAULTS(KVWITNESS_FAULT_ENTRY)
#undef KVWITNESS_FAULT_ENTRY
};

Fault read_fault() {
  const char* const named = std::getenv("KVWITNESS_PLANTED_FAULT");
  const std::string_view name = named == nullptr ? "" : named;
  for (std::size_t i = 0; i < kEntries.size(); ++i) {
    if (kEntries[i].name == name) {
      return static_cast<Fault>(i);
    }
  }
  std::fputs("KVWITNESS_PLANTED_FAULT names no fault; they are:\n", stderr);
  for (const Entry& entry : kEntries) {
    std::fprintf(stderr, "%s: %s [%s]\n", entry.name, entry.what, entry.targets);
  }
  std::exit(2);
}

}  // namespace

Fault planted_fault() {
  static const Fault fault = read_fault();
  return fault;
}

rule::Fault planted_rule_fault() {
  static const rule::Fault fault = rule::find_fault(kEntries[static_cast<std::size_t>(planted_fault())].name);
  return fault;
}

}  // namespace kvwitness::fuzz
