// The backend in use, once it is known.
#ifndef LIB_SRC_CHOSEN_BACKEND_H
#define LIB_SRC_CHOSEN_BACKEND_H

#include <atomic>

#include "kvwitness/backend.h"

namespace kvwitness::detail {

// Null until select_backend succeeds or the environment has been read and is usable; never null again.
extern std::atomic<const Backend*> chosen_backend;

}  // namespace kvwitness::detail

#endif  // LIB_SRC_CHOSEN_BACKEND_H
