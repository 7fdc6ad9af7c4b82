// Every row of a small scope: all calls of each operation with small counts, each with all rows of small width over
// every token that such a context tells apart.
#ifndef TESTS_PROPERTIES_SMALL_SCOPE_H
#define TESTS_PROPERTIES_SMALL_SCOPE_H

#include <kvwitness/case.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "properties/case/implementation.h"

namespace kvwitness::harness {

// Contexts of -1 to longest_context tokens, 1 to most_segments segments, rows of 0 to widest_row slots; for apply every
// learned_keep, and every budget up to one more than there are slots behind it.
struct SmallScope {
  std::int32_t longest_context;
  std::int64_t most_segments;
  std::int64_t widest_row;
};

// Calls `take` with each case of the scope until it returns false. The rows of a case are all rows of its width over
// padding, each token of the context, the first one past it and INT32_MAX.
void for_each_case(const SmallScope& scope, const std::function<bool(const Case&)>& take);

// The same with every row in two wide ones (witnesses and scatter): its tokens far apart among padding, so that they
// lie in different vectors and blocks; and repeated to the row's end.
void for_each_wide_case(const SmallScope& scope, std::int64_t width, const std::function<bool(const Case&)>& take);

// The cases of a scope as the oracle answers them, against an implementation's answers.
class ScopeJudge {
 public:
  explicit ScopeJudge(Implementation& implementation);

  // Judges one case within the implementation's domain; false from the first wrong answer on.
  bool judge(const Case& value);

  std::int64_t rows() const { return rows_; }
  // What was wrong first: the case, cut down to the row where one can be named. "" where nothing was.
  const std::string& complaint() const { return complaint_; }

 private:
  Implementation& implementation_;
  std::unique_ptr<Implementation> oracle_;
  std::int64_t rows_ = 0;
  std::string complaint_;
};

}  // namespace kvwitness::harness

#endif  // TESTS_PROPERTIES_SMALL_SCOPE_H
