// The text of a thread's last refusal, of which each library has its own.
//
// C++17.
#ifndef LIB_SRC_LAST_ERROR_H
#define LIB_SRC_LAST_ERROR_H

#include <cstdarg>
#include <cstdio>

#include "kvwitness/kvwitness.h"

namespace kvwitness::detail {

class LastError {
 public:
  // "" before the first refusal.
  const char* text() const noexcept { return text_; }

  // Keeps the message, cut to the size of the buffer, and returns `status`. Allocates nothing. `format` and
  // what follows are printf's; no argument may be text().
  [[gnu::format(printf, 3, 4)]] kvw_status refuse(kvw_status status, const char* format, ...) noexcept {
    std::va_list arguments;
    va_start(arguments, format);
    refuse_with(format, arguments);
    va_end(arguments);
    return status;
  }
  [[gnu::format(printf, 2, 0)]] void refuse_with(const char* format, std::va_list arguments) noexcept {
    std::vsnprintf(text_, sizeof text_, format, arguments);
  }

 private:
  char text_[640] = "";
};

}  // namespace kvwitness::detail

#endif  // LIB_SRC_LAST_ERROR_H
