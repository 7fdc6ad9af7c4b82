#include <fmt/format.h>
#include <kvwitness/backend.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "properties/cli/commands.h"
#include "properties/cli/standard_streams.h"
#include "properties/implementations/registry.h"

namespace kvwitness::harness::cli {
namespace {

// Why a backend cannot be used here, or "".
std::string why_not(std::string_view backend) {
  const auto compiled_in = kvwitness::backends();
  const auto found =
      std::find_if(compiled_in.begin(), compiled_in.end(), [&](const Backend* one) { return backend == one->name; });
  if (found == compiled_in.end()) return "this build leaves it out";
  const char* const reason = (*found)->why_not();
  return reason == nullptr ? "" : reason;
}

std::string ability(const std::string& reason) {
  return reason.empty() ? "can run here" : "cannot run here: " + reason;
}

void print_json() {
  nlohmann::ordered_json json = {{"kvwitness_list", 1},
                                 {"implementations", nlohmann::ordered_json::array()},
                                 {"properties", nlohmann::ordered_json::array()},
                                 {"backends", nlohmann::ordered_json::array()}};
  for (const auto& implementation : all_implementations()) {
    const Availability availability = implementation->availability();
    json["implementations"].push_back(
        {{"name", implementation->name()}, {"can_run", availability.can_run}, {"reason", availability.why_not}});
  }
  for (const Property& property : all_properties()) {
    json["properties"].push_back({{"name", property.name},
                                  {"statement", property.statement},
                                  {"uses_oracle", property.uses_oracle},
                                  {"relation", property.is_metamorphic_relation}});
  }
  for (const std::string& name : known_backend_names()) {
    const std::string reason = why_not(name);
    json["backends"].push_back({{"name", name}, {"can_run", reason.empty()}, {"reason", reason}});
  }
  fmt::print("{}\n", json.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

}  // namespace

ExitStatus list(const ListArguments& arguments) {
  require_standard_output();
  environment_of_process();  // a misspelt variable is an error for every command
  if (arguments.json) {
    print_json();
    return ExitStatus::kPassed;
  }
  fmt::print("implementations (--impl NAME):\n");
  for (const auto& implementation : all_implementations()) {
    const Availability availability = implementation->availability();
    fmt::print("  {:<24} {}\n", implementation->name(), ability(availability.can_run ? "" : availability.why_not));
  }
  fmt::print("properties (--property GLOB):\n");
  for (const Property& property : all_properties()) fmt::print("  {:<24} {}\n", property.name, property.statement);
  fmt::print("backends of the library (KVWITNESS_BACKEND=NAME, for c-abi):\n");
  for (const std::string& name : known_backend_names()) fmt::print("  {:<24} {}\n", name, ability(why_not(name)));
  return ExitStatus::kPassed;
}

}  // namespace kvwitness::harness::cli
