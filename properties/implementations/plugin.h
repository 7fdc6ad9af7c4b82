// Plug-ins: shared libraries that export the functions of <kvwitness/plugin.h>, as implementations that run in a worker
// process.
#ifndef PROPERTIES_IMPLEMENTATIONS_PLUGIN_H
#define PROPERTIES_IMPLEMENTATIONS_PLUGIN_H

#include <expected>
#include <memory>
#include <string>

#include "properties/case/implementation.h"
#include "properties/sandbox/deadline_policy.h"

namespace kvwitness::harness {

// Loads the file in a worker process and asks what it is. The error is the reason, for the person who named the file:
// it cannot be loaded, has no version or a wrong one, or exports none of the operations. This process never runs a line
// of it. Starts a process, so call it before starting threads or a CUDA context.
std::expected<std::unique_ptr<Implementation>, std::string> load_plugin(const std::string& path,
                                                                        const DeadlineLimits& limits = {});

// The same in this process, for a debugger or a sanitizer: nothing is isolated, and no call has a deadline.
std::expected<std::unique_ptr<Implementation>, std::string> load_plugin_in_process(const std::string& path);

}  // namespace kvwitness::harness

#endif  // PROPERTIES_IMPLEMENTATIONS_PLUGIN_H
