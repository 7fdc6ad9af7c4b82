// The words in which an unusable backend name is refused, from the environment and from kvw_set_backend alike.
#ifndef LIB_SRC_BACKEND_MESSAGE_H
#define LIB_SRC_BACKEND_MESSAGE_H

#include <cstddef>
#include <string_view>

#include "kvwitness/backend.h"

namespace kvwitness::detail {

inline constexpr std::size_t kBackendMessageBytes = 512;

// Writes "ARGUMENT is "NAME", ...; usable here: ..." to `message`, cut to its size. Allocates nothing.
void describe_unusable_backend(char (&message)[kBackendMessageBytes], const char* argument, std::string_view name,
                               BackendFault fault) noexcept;

}  // namespace kvwitness::detail

#endif  // LIB_SRC_BACKEND_MESSAGE_H
