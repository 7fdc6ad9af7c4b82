// The library's backends through the C++ interface.
#include <kvwitness/backend.h>
#include <kvwitness/witness.h>

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "properties/case/status.h"
#include "properties/implementations/registry.h"
#include "properties/sandbox/host_implementation.h"

namespace kvwitness::harness {
namespace {

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
  std::span<const std::unique_ptr<Implementation>> peers() const override { return runnable_backends(); }

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

std::vector<std::unique_ptr<Implementation>> make_backends() {
  std::vector<std::unique_ptr<Implementation>> made;
  for (const std::string_view name : known_backend_names()) {
    made.push_back(std::make_unique<BackendImplementation>(name));
  }
  return made;
}

std::span<const std::unique_ptr<Implementation>> runnable_backends() {
  static const std::vector<std::unique_ptr<Implementation>> backends = [] {
    std::vector<std::unique_ptr<Implementation>> made = make_backends();
    std::erase_if(made, [](const auto& backend) { return !backend->availability().can_run; });
    return made;
  }();
  return backends;
}

}  // namespace kvwitness::harness
