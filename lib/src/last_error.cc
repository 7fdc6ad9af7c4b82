#include "lib/src/last_error.h"

#include <cstdarg>
#include <cstdio>

namespace kvwitness::detail {
namespace {

constinit thread_local char message[640] = "";

}  // namespace

kvw_status refuse(kvw_status status, const char* format, ...) noexcept {
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  return status;
}

const char* last_error() noexcept {
  return message;
}

}  // namespace kvwitness::detail
