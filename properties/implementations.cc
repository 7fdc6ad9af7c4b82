#include "properties/implementations.h"

#include <kvwitness/backend.h>
#include <kvwitness/witness.h>

#include <algorithm>
#include <expected>
#include <iterator>
#include <utility>

#include "properties/call_frame.h"
#include "properties/oracle.h"
#include "properties/status.h"

namespace kvwitness::harness {

bool fills_its_shape(const Case& value) {
  return value.topk >= 0 &&
         static_cast<__int128>(value.rows()) * value.topk == static_cast<__int128>(value.learned.size());
}

bool sees_stride(const Implementation& implementation, const Case& value) {
  return value.row_stride.has_value() && implementation.honours_stride(value.operation) && fills_its_shape(value);
}

bool is_plain_call(const Case& value, bool strided) {
  if (!fills_its_shape(value) || expected_status(value, strided) != status::kOk) {
    return false;
  }
  // The off switch excuses any stride; without arguments to check, none of that is asked for.
  return !strided || (*value.row_stride >= 0 && (value.rows() < 2 || value.topk == 0)) ||
         (value.rows() > 1 && *value.row_stride >= value.topk &&
          *value.row_stride <= (kMaxSpannedElements - value.topk) / (value.rows() - 1));
}

bool came_back(const Outcome& outcome) {
  return outcome.ending == Ending::kReturned || outcome.ending == Ending::kUnsupported;
}

Outcome run_in_order(const Case& value, const std::function<Outcome(const Case&)>& run_alone) {
  std::vector<Outcome> earlier;
  earlier.reserve(value.after.size());
  for (const Case& call : value.after) {
    earlier.push_back(run_alone(call));
    const Outcome& last = earlier.back();
    if (!came_back(last)) {
      Outcome outcome =
          Outcome::ended(last.ending, "in call " + std::to_string(earlier.size()) + " of those before it, " + last.how);
      outcome.after = std::move(earlier);
      return outcome;
    }
  }
  Outcome outcome = run_alone(value);
  outcome.after = std::move(earlier);
  return outcome;
}

std::vector<Outcome> Implementation::run_together(std::span<const RunRequest> requests) {
  std::vector<Outcome> outcomes;
  for (const auto& [value, surroundings] : requests) {
    outcomes.push_back(run_in(*value, surroundings));
    if (!came_back(outcomes.back())) {
      break;
    }
  }
  return outcomes;
}

HostImplementation::HostImplementation() = default;
HostImplementation::~HostImplementation() = default;

Outcome HostImplementation::run_alone(const Case& value, const Surroundings& surroundings) {
  const bool strided = sees_stride(*this, value);
  if (auto why = CallFrame::obstacle(value, strided)) {
    return Outcome::ended(Ending::kUnsupported, std::move(*why));
  }
  const std::size_t needed_bytes = CallFrame::needed_bytes(value, strided);
  if (memory_ == nullptr || memory_->capacity_bytes() < needed_bytes) {
    memory_ = std::make_unique<FrameMemory>(std::max(needed_bytes, FrameMemory::kDefaultCapacityBytes));
    memory_->map_guarded();
  }
  const CallFrame frame(*memory_, value, strided, surroundings);
  const PlacedCall& placed = frame.placed();
  const std::pair<Region, const Placement*> buffers[] = {
      {Region::kTokens, &placed.tokens}, {Region::kLengths, &placed.lengths}, {Region::kOutput, &placed.output}};
  for (const auto& [region, placement] : buffers) {
    memory_->raise_guards(region, *placement);
  }
  Answer answer = call(resolve(placed, *memory_, false));
  for (const auto& [region, placement] : buffers) {
    memory_->lower_guards(region, *placement);
  }
  Outcome outcome = frame.collect();
  outcome.status = answer.status;
  outcome.message = std::move(answer.message);
  return outcome;
}

Outcome HostImplementation::run_in(const Case& value, const Surroundings& surroundings) {
  return run_in_order(value, [&](const Case& call) { return run_alone(call, surroundings); });
}

namespace {

// The rule itself as an implementation: what a run of the harness on a right implementation looks like.
class OracleImplementation final : public Implementation {
 public:
  std::string name() const override { return "oracle"; }

  Outcome run_in(const Case& value, const Surroundings& surroundings) override {
    return run_in_order(value, [&](const Case& call) { return answer(call, surroundings); });
  }

 private:
  Outcome answer(const Case& value, const Surroundings& surroundings) const {
    const bool strided = sees_stride(*this, value);
    if (auto why = CallFrame::obstacle(value, strided)) {
      return Outcome::ended(Ending::kUnsupported, std::move(*why));
    }
    Outcome outcome;
    outcome.status = expected_status(value, strided);
    const bool in_place =
        value.operation == Operation::kScatter || (value.operation == Operation::kApply && value.in_place);
    if (in_place) {
      outcome.before = value.learned;
    } else {
      outcome.before.assign(static_cast<std::size_t>(output_elements(value)), output_poison(value, surroundings.fill));
    }
    outcome.rows = outcome.status == status::kOk ? expected_rows(value) : outcome.before;
    return outcome;
  }
};

// The kvw_status number of each kind of refusal.
std::int32_t status_of(const Refusal& refusal) {
  struct {
    std::int32_t operator()(const RowsMismatch&) const { return status::kRowsMismatch; }
    std::int32_t operator()(const SegmentsOutOfRange&) const { return status::kSegmentsOutOfRange; }
    std::int32_t operator()(const LearnedKeepOutOfRange&) const { return status::kLearnedKeepOutOfRange; }
    std::int32_t operator()(const RowStrideOutOfRange&) const { return status::kRowStride; }
    std::int32_t operator()(const BufferOverlap&) const { return status::kBufferOverlap; }
    std::int32_t operator()(const BufferTooSmall&) const { return status::kBufferTooSmall; }
    std::int32_t operator()(const UnknownBackend&) const { return status::kUnknownBackend; }
  } number;
  return std::visit(number, refusal);
}

// One backend through the C++ interface, whose strided forms reach every operation.
class BackendImplementation final : public HostImplementation {
 public:
  explicit BackendImplementation(std::string_view name) : name_(name), backend_(find_backend(name)) {}

  std::string name() const override { return name_; }

  Availability availability() const override {
    if (backend_) {
      return {};
    }
    return {false, why_not()};
  }

  // The C++ types hold no negative count, and a strided call comes with its elements.
  bool supports(const Case& value) const override {
    const bool negative = value.topk < 0 || value.num_segments < 0 || value.learned_keep < 0 ||
                          value.max_replacements < 0 || (sees_stride(*this, value) && *value.row_stride < 0);
    const bool off = value.operation == Operation::kScatter && value.num_segments == 0;
    const bool spans_too_far = sees_stride(*this, value) && value.rows() > 1 && value.topk > 0 &&
                               *value.row_stride > (kMaxSpannedElements - value.topk) / (value.rows() - 1);
    return !negative && (off || !spans_too_far);
  }

  Answer call(const Call& call) override {
    const auto done = invoke(call);
    return {done ? status::kOk : status_of(done.error()), ""};
  }

 private:
  std::string why_not() const {
    for (const Backend* const backend : backends()) {
      if (backend->name == name_) {
        return backend->why_not();
      }
    }
    return "this build leaves it out";
  }

  std::expected<void, Refusal> invoke(const Call& call) const {
    const auto topk = static_cast<std::size_t>(call.topk);
    const auto rows = static_cast<std::size_t>(call.rows);
    const auto stride = static_cast<std::size_t>(call.row_stride);
    const auto num_segments = static_cast<std::size_t>(call.num_segments);
    const std::span<const std::int32_t> lengths(call.context_lens, rows);
    const bool strided = call.row_stride != call.topk;
    const std::size_t elements = strided && rows > 0 && topk > 0 && stride > topk
                                     ? (rows - 1) * stride + topk
                                     : static_cast<std::size_t>(call.learned_len);
    const std::span<const std::int32_t> learned(call.learned, elements);
    const std::span out(call.out, elements);
    const Backend& backend = **backend_;
    switch (call.operation) {
      case Operation::kWitnesses: {
        const std::span witnesses(call.out, num_segments > kMaxTouchedElements ? 0 : rows * num_segments);
        return strided
                   ? witness_indices_into(backend, StridedRows{learned, stride}, topk, lengths, num_segments, witnesses)
                   : witness_indices_into(backend, learned, topk, lengths, num_segments, witnesses);
      }
      case Operation::kApply: {
        const auto keep = static_cast<std::size_t>(call.learned_keep);
        const auto budget = static_cast<std::size_t>(call.max_replacements);
        return strided ? apply_into(backend, StridedRows{learned, stride}, topk, lengths, keep, num_segments, budget,
                                    StridedRows{out, stride})
                       : apply_into(backend, learned, topk, lengths, keep, num_segments, budget, out);
      }
      case Operation::kScatter:
        break;
    }
    return strided ? scatter(backend, StridedRows{out, stride}, topk, lengths, num_segments)
                   : scatter(backend, out, topk, lengths, num_segments);
  }

  std::string name_;
  std::expected<const Backend*, BackendFault> backend_;
};

}  // namespace

std::unique_ptr<Implementation> make_oracle() {
  return std::make_unique<OracleImplementation>();
}

std::vector<std::unique_ptr<Implementation>> make_backends() {
  std::vector<std::unique_ptr<Implementation>> made;
  for (const std::string_view name : known_backend_names()) {
    made.push_back(std::make_unique<BackendImplementation>(name));
  }
  return made;
}

std::vector<std::unique_ptr<Implementation>> all_implementations() {
  std::vector<std::unique_ptr<Implementation>> all;
  all.push_back(make_oracle());
  all.push_back(make_c_abi());
  std::ranges::move(make_backends(), std::back_inserter(all));
  std::ranges::move(make_cuda_emulated(), std::back_inserter(all));
  std::ranges::move(make_cuda(), std::back_inserter(all));
  return all;
}

std::unique_ptr<Implementation> find_implementation(std::string_view name) {
  for (std::unique_ptr<Implementation>& implementation : all_implementations()) {
    if (implementation->name() == name) {
      return std::move(implementation);
    }
  }
  return nullptr;
}

}  // namespace kvwitness::harness
