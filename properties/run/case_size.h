// How large a case is, in elements: tokens and context lengths.
#ifndef PROPERTIES_RUN_CASE_SIZE_H
#define PROPERTIES_RUN_CASE_SIZE_H

#include <kvwitness/case.h>

#include <cstddef>

namespace kvwitness::harness {

// Of its own call.
inline std::size_t elements_of(const Case& value) {
  return value.learned.size() + value.context_lens.size();
}

// Of all its calls.
inline std::size_t elements_with_prior_calls(const Case& value) {
  std::size_t elements = elements_of(value);
  for (const Case& prior : value.prior_calls) elements += elements_of(prior);
  return elements;
}

}  // namespace kvwitness::harness

#endif  // PROPERTIES_RUN_CASE_SIZE_H
