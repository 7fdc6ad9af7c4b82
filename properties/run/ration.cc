#include "properties/run/ration.h"

#include <kvwitness/assertions.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "properties/run/case_size.h"

namespace kvwitness::harness {
namespace {

// A call may take a twentieth of what is left.
constexpr double kWorthOfLeft = 0.05;
// Calls that take long have two fifths of the limit together, first calls of shapes a third.
constexpr double kLongCall = 0.1, kShareOfLongCalls = 0.4, kShareOfFirstCalls = 1.0 / 3;
// Below this a first call tells nothing of what a shape costs.
constexpr double kCheapFirstCall = 0.05;
// How much longer a call of twice the elements takes.
constexpr double kGrowth = 2;
constexpr std::size_t kMostShapes = std::size_t{1} << 16;

std::size_t size_class(const Case& value) {
  return static_cast<std::size_t>(std::bit_width(elements_with_prior_calls(value)));
}

}  // namespace

void Ration::enter() {
  KVWITNESS_ASSERT(!entered_);
  entered_ = Clock::now();
}
void Ration::leave() {
  KVWITNESS_ASSERT(entered_);
  spent_ += Clock::now() - *entered_;
  entered_.reset();
}
Ration::Seconds Ration::spent() const {
  return entered_ ? spent_ + Seconds(Clock::now() - *entered_) : spent_;
}
std::optional<Ration::Seconds> Ration::left() const {
  if (!limit_) return std::nullopt;
  return std::max(Seconds{0}, *limit_ - spent());
}

Ration::Shape Ration::shape_of(const Case& value) {
  return {value.operation, value.topk, value.num_segments, value.rows()};
}

Ration::Seconds Ration::expected(const Case& value) const {
  const std::size_t own = std::min(size_class(value), slowest_.size() - 1);
  // A smaller call never says less than a larger one that was quick.
  for (std::size_t other = own + 1; other-- > 0;) {
    if (slowest_[other] > 0) return Seconds(slowest_[other] * std::pow(kGrowth, static_cast<double>(own - other)));
  }
  return Seconds{0};
}

bool Ration::affords(const Case& value) const {
  if (!limit_) return true;
  const double takes = expected(value).count();
  const bool is_too_long =
      takes > kWorthOfLeft * left()->count() || long_calls_ + takes > kShareOfLongCalls * limit_->count();
  if (is_long(takes) && is_too_long) return false;
  return !has_costly_shapes() || shapes_.contains(shape_of(value)) || affordable_shapes() > 0;
}

void Ration::note_question(const Case& value, Seconds took) {
  if (!limit_ || took.count() < kCheapFirstCall) return;
  slow_questions_ = std::min(slow_questions_ + 1, 100);
  if (shapes_.size() < kMostShapes && shapes_.insert(shape_of(value)).second) first_calls_ += took.count();
}

// For this implementation: much longer than its smallest calls.
bool Ration::is_long(double seconds) const {
  constexpr double kMuchLonger = 4;
  const auto* const smallest = std::ranges::find_if(slowest_, [](double slowest) { return slowest > 0; });
  return seconds > std::max(kLongCall, smallest == slowest_.end() ? 0 : kMuchLonger * *smallest);
}

double Ration::mean_first_call() const {
  return shapes_.empty() ? 0 : first_calls_ / static_cast<double>(shapes_.size());
}
bool Ration::has_costly_shapes() const {
  constexpr std::size_t kLeastShapes = 3;
  constexpr double kMuchLonger = 4;
  const double other = other_count_ == 0 ? 0 : other_calls_ / static_cast<double>(other_count_);
  return shapes_.size() >= kLeastShapes && mean_first_call() > std::max(kCheapFirstCall, kMuchLonger * other);
}
std::int64_t Ration::affordable_shapes() const {
  if (!limit_ || mean_first_call() <= 0) return std::numeric_limits<std::int64_t>::max();
  const double left = kShareOfFirstCalls * limit_->count() - first_calls_;
  return static_cast<std::int64_t>(std::max(0.0, left / mean_first_call()));
}

void Ration::note(const Case& value, Seconds took) {
  if (!limit_) return;
  const bool is_first = shapes_.size() < kMostShapes && shapes_.insert(shape_of(value)).second;
  if (is_first) {
    first_calls_ += took.count();
  } else {
    other_calls_ += took.count();
    ++other_count_;
  }
  if (is_long(took.count())) long_calls_ += took.count();
  // What a first call takes may be what its shape costs; the next one of it tells.
  double& slowest = slowest_[std::min(size_class(value), slowest_.size() - 1)];
  if (!is_first || took.count() < kCheapFirstCall) slowest = std::max(slowest, took.count());
}

}  // namespace kvwitness::harness
