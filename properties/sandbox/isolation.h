// An implementation over host pointers with its calls made in a worker process.
#ifndef PROPERTIES_SANDBOX_ISOLATION_H
#define PROPERTIES_SANDBOX_ISOLATION_H

#include <memory>
#include <optional>

#include "properties/case/implementation.h"
#include "properties/sandbox/deadline_policy.h"

namespace kvwitness::harness {

// The same implementation with its calls made in a worker process, within `limits` or, without, its own. One that is no
// HostImplementation is returned as it is.
std::unique_ptr<Implementation> isolate(std::unique_ptr<Implementation> implementation,
                                        const std::optional<DeadlineLimits>& limits = std::nullopt);

}  // namespace kvwitness::harness

#endif  // PROPERTIES_SANDBOX_ISOLATION_H
