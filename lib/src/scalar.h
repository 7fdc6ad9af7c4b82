// The backend that runs everywhere.
#ifndef LIB_SRC_SCALAR_H
#define LIB_SRC_SCALAR_H

#include "kvwitness/backend.h"

namespace kvwitness::detail {

extern const Backend kScalarBackend;

}  // namespace kvwitness::detail

#endif  // LIB_SRC_SCALAR_H
