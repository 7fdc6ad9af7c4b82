// Cases written out as a test of a plug-in: a program that loads it and calls it, without the harness.
#ifndef PROPERTIES_CLI_EMIT_PLUGIN_H
#define PROPERTIES_CLI_EMIT_PLUGIN_H

#include <span>
#include <string>
#include <string_view>

#include "properties/run/options.h"

namespace kvwitness::harness::cli {

// One test a case, which makes the calls of plugin.h, prior calls first, laid out in memory as the case says, and asserts
// the rule's answers. A refusal is asserted where the plug-in promises refusals. The environment variable
// KVWITNESS_PLUGIN names another plug-in than the one that is written down.
//
// @param form    "c": C11, which prints and exits with 1
//                "gtest": C++17 with GoogleTest
//                "pytest": Python, for pytest or by itself
//                Another form is a UsageError.
// @param plugin  the shared library's path
std::string emit_for_plugin(std::string_view form, std::span<const PinnedCase> cases, const std::string& plugin);

}  // namespace kvwitness::harness::cli

#endif  // PROPERTIES_CLI_EMIT_PLUGIN_H
