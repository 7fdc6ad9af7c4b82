#include "lib/src/backend_message.h"

#include <algorithm>
#include <cstdio>

namespace kvwitness::detail {
namespace {

// Long enough for any real name; a longer one is cut in the message.
constexpr int kNameShown = 64;

const char* reason(std::string_view name, BackendFault fault) noexcept {
  if (fault == BackendFault::kUnknownName) {
    return "which is no known backend";
  }
  if (fault == BackendFault::kNotCompiledIn) {
    return "a known backend that this build does not hold";
  }
  return (*std::ranges::find_if(backends(), [name](const Backend* backend) { return backend->name == name; }))
      ->why_not();
}

}  // namespace

void describe_unusable_backend(char (&message)[kBackendMessageBytes], const char* argument, std::string_view name,
                               BackendFault fault) noexcept {
  const int shown = static_cast<int>(std::min(name.size(), std::size_t{kNameShown}));
  const char* const lead = fault == BackendFault::kCannotRunHere ? "a backend that cannot run here: " : "";
  std::snprintf(message, sizeof message, "%s is \"%.*s\", %s%s; usable here:", argument, shown, name.data(), lead,
                reason(name, fault));
  for (const Backend* const backend : backends()) {
    if (backend->runnable()) {
      const std::size_t used = std::string_view(message).size();
      std::snprintf(message + used, sizeof message - used, " %s", backend->name);
    }
  }
}

}  // namespace kvwitness::detail
