#include "fuzz/finding.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace kvwitness::fuzz {
namespace {

void print(const Finding& finding) {
  std::string line(kFindingPrefix);
  line.append("target=").append(finding.target);
  line.append(" invariant=").append(finding.invariant);
  line.append(" subject=").append(finding.subject);
  line.append(": ").append(finding.what);
  std::ranges::replace(line, '\n', ' ');
  line.push_back('\n');
  std::fputs(line.c_str(), stderr);
}

}  // namespace

void report_finding(const Finding& finding) {
  print(finding);
  std::fflush(stderr);
  std::abort();
}

void report_finding(const Finding& finding, const harness::Case& value) {
  constexpr std::size_t kMostCharacters = 4096;
  print(finding);
  const std::string json = to_json(value).substr(0, kMostCharacters) + "\n";
  std::fputs(json.c_str(), stderr);
  std::fflush(stderr);
  std::abort();
}

}  // namespace kvwitness::fuzz
