// The time of one implementation: what is left of its limit, and which calls are worth a part of it.
//
// A call is worth making where what it will probably take is a small part of what is left. What it will take is told by
// what calls of its size took before (by powers of two; where none was made, twice as much for each doubling of the
// largest one that was) and, where its shape is new, by first calls of shapes. An implementation that answers in
// microseconds never meets a limit here. For one that does not, small and familiar calls go on, and large or unfamiliar
// ones are left out, and counted.
#ifndef PROPERTIES_RUN_RATION_H
#define PROPERTIES_RUN_RATION_H

#include <kvwitness/case.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <tuple>

#include "properties/sandbox/interruption.h"

namespace kvwitness::harness {

class Ration {
 public:
  using Clock = std::chrono::steady_clock;
  using Seconds = std::chrono::duration<double>;

  // No limit: everything is worth making.
  explicit Ration(std::optional<Seconds> limit = std::nullopt) : limit_(limit) {}

  // The clock of this implementation runs between the two.
  void enter();
  void leave();
  Seconds spent() const;
  // Whether the limit has passed, or this process is asked to end.
  bool is_over() const { return is_interrupted() || (limit_ && spent() >= *limit_); }
  // Whether nothing new is to be judged: the last tenth is for what was found.
  bool is_nearly_over() const { return is_interrupted() || (limit_ && spent() >= 0.9 * *limit_); }
  // A part of the limit; without one the most there is.
  Seconds share(double part) const { return limit_ ? part * *limit_ : Seconds::max(); }
  // What is left; nothing where there is no limit.
  std::optional<Seconds> left() const;

  // Whether the case's calls are worth their time.
  bool affords(const Case& value) const;
  // Counts cases that were left out because they are not.
  void leave_out(std::int64_t cases = 1) { left_out_ += std::max<std::int64_t>(cases, 0); }
  std::int64_t left_out() const { return left_out_; }
  // What a case's calls took.
  void note(const Case& value, Seconds took);

  // What the question whether the case's shape is served took.
  void note_question(const Case& value, Seconds took);
  bool has_slow_questions() const { return slow_questions_ > 3; }

  // Whether first calls of shapes take much longer than others, as those of a library that compiles for each shape.
  bool has_costly_shapes() const;
  // How many more of them there is time for.
  std::int64_t affordable_shapes() const;

 private:
  // What a library may prepare or compile for.
  using Shape = std::tuple<Operation, std::int64_t, std::int64_t, std::int64_t>;
  static Shape shape_of(const Case& value);

  Seconds expected(const Case& value) const;
  bool is_long(double seconds) const;
  double mean_first_call() const;

  std::optional<Seconds> limit_;
  Seconds spent_{0};
  std::optional<Clock::time_point> entered_;

  std::array<double, 48> slowest_{};  // seconds of a familiar call, by the logarithm of its elements
  std::set<Shape> shapes_;
  double first_calls_ = 0;  // seconds of the first calls of all shapes
  double long_calls_ = 0;   // seconds of calls that took long
  double other_calls_ = 0;  // seconds of calls of shapes that were called before, and their number
  std::int64_t other_count_ = 0;
  int slow_questions_ = 0;
  std::int64_t left_out_ = 0;
};

}  // namespace kvwitness::harness

#endif  // PROPERTIES_RUN_RATION_H
