// The text of a thread's last refusal at the C ABI.
#ifndef LIB_SRC_LAST_ERROR_H
#define LIB_SRC_LAST_ERROR_H

#include "kvwitness/kvwitness.h"

namespace kvwitness::detail {

// Keeps the message for kvw_last_error, cut to the size of the thread's buffer, and returns `status`. Allocates
// nothing. `format` and what follows are printf's; no argument may be the text of an earlier refusal.
[[gnu::format(printf, 2, 3)]] kvw_status refuse(kvw_status status, const char* format, ...) noexcept;

// The calling thread's message; "" before its first refusal.
const char* last_error() noexcept;

}  // namespace kvwitness::detail

#endif  // LIB_SRC_LAST_ERROR_H
