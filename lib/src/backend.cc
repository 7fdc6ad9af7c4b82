#include "kvwitness/backend.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>

#include "lib/src/backend_message.h"
#include "lib/src/chosen_backend.h"
#include "lib/src/simd/compiled_in.h"

namespace kvwitness {

constinit std::atomic<const Backend*> detail::chosen_backend = nullptr;

namespace {

constexpr std::string_view kKnownNames[] = {"scalar",      "ssse3", "sse4", "avx2", "avx512",
                                            "avx512_ifma", "neon",  "sve",  "sve2"};

const Backend* best_here() noexcept {
  return *std::ranges::find_if(detail::compiled_in_backends(),
                               [](const Backend* backend) { return backend->runnable(); });
}

// What KVWITNESS_BACKEND asks for, read at the first use.
struct FromEnvironment {
  const Backend* backend = nullptr;  // null where the variable is unusable
  char why[detail::kBackendMessageBytes] = "";

  FromEnvironment() noexcept {
    const char* const value = std::getenv("KVWITNESS_BACKEND");
    const std::string_view name = value == nullptr ? "" : value;
    if (const auto found = find_backend(name)) {
      backend = *found;
    } else {
      detail::describe_unusable_backend(why, "KVWITNESS_BACKEND", name, found.error());
    }
  }
};

const FromEnvironment& from_environment() noexcept {
  static const FromEnvironment environment;
  return environment;
}

}  // namespace

std::span<const Backend* const> backends() noexcept {
  return detail::compiled_in_backends();
}

std::span<const std::string_view> known_backend_names() noexcept {
  return kKnownNames;
}

std::expected<const Backend*, BackendFault> find_backend(std::string_view name) noexcept {
  if (name.empty()) {
    return best_here();
  }
  const auto compiled_in =
      std::ranges::find_if(backends(), [name](const Backend* backend) { return backend->name == name; });
  if (compiled_in == backends().end()) {
    const bool known = std::ranges::find(kKnownNames, name) != std::end(kKnownNames);
    return std::unexpected(known ? BackendFault::kNotCompiledIn : BackendFault::kUnknownName);
  }
  if (!(*compiled_in)->runnable()) {
    return std::unexpected(BackendFault::kCannotRunHere);
  }
  return *compiled_in;
}

std::expected<void, BackendFault> select_backend(std::string_view name) noexcept {
  const auto found = find_backend(name);
  if (!found) {
    return std::unexpected(found.error());
  }
  detail::chosen_backend.store(*found, std::memory_order_relaxed);
  return {};
}

std::expected<const Backend*, UnknownBackend> selected_backend() noexcept {
  if (const Backend* const chosen = detail::chosen_backend.load(std::memory_order_relaxed)) {
    return chosen;
  }
  const FromEnvironment& environment = from_environment();
  if (environment.backend == nullptr) {
    return std::unexpected(UnknownBackend{environment.why});
  }
  // A choice that another thread has made in the meantime stands.
  const Backend* chosen = nullptr;
  if (detail::chosen_backend.compare_exchange_strong(chosen, environment.backend, std::memory_order_relaxed)) {
    return environment.backend;
  }
  return chosen;
}

}  // namespace kvwitness
