// Cases written out again: as case files with the oracle's answers, or as a GoogleTest program.
#ifndef PROPERTIES_CLI_EMIT_H
#define PROPERTIES_CLI_EMIT_H

#include <span>
#include <string>
#include <string_view>

#include "properties/run/options.h"

namespace kvwitness::harness::cli {

// The cases as "json": one a line, `expect` being the oracle's answer. As "gtest": a C++17 file of one TEST a case,
// which needs GoogleTest and the installed library. It makes the calls through the C ABI, laid out in memory as the
// case says, and asserts the oracle's answers.
// @param form  "json" or "gtest"; anything else is a UsageError
std::string emit(std::string_view form, std::span<const PinnedCase> cases);

}  // namespace kvwitness::harness::cli

#endif  // PROPERTIES_CLI_EMIT_H
