// A small deterministic source of cases for tests of the judge, which must not depend on the harness's own generators.
#ifndef TESTS_PROPERTIES_SAMPLED_CASES_H
#define TESTS_PROPERTIES_SAMPLED_CASES_H

#include <kvwitness/case.h>

#include <cstdint>
#include <vector>

namespace kvwitness::harness {

class CaseSampler {
 public:
  explicit CaseSampler(std::uint64_t seed) : state_(seed) {}

  // A small case of any operation, mostly legal: short and long contexts, padding, tokens on both sides of edges and
  // past the end, strides, offsets, calls before it.
  Case next();
  // The same, never to be refused.
  Case next_legal();

 private:
  std::uint64_t draw();
  std::int64_t between(std::int64_t low, std::int64_t high);
  bool one_in(std::int64_t n) { return between(1, n) == 1; }
  template <typename T>
  T one_of(std::initializer_list<T> values) {
    return values.begin()[between(0, static_cast<std::int64_t>(values.size()) - 1)];
  }
  std::int32_t context_len();
  std::int32_t token(std::int32_t context_len, std::int64_t num_segments);
  Case legal_call();
  void spoil(Case& value);

  std::uint64_t state_;
};

}  // namespace kvwitness::harness

#endif  // TESTS_PROPERTIES_SAMPLED_CASES_H
