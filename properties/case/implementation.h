// What can be judged: an Implementation turns a Case into an Outcome, the one way to run a Case on any of them.
//
// Those that are functions over host pointers (backends, C ABI, plug-ins) derive from HostImplementation and see a Call
// whose buffers a CallFrame has laid out; others (the oracle, the CPU executor, a GPU, a pipe) implement run_in()
// themselves. One that may crash or hang is run in a worker process. See properties/sandbox and
// properties/implementations.
#ifndef PROPERTIES_CASE_IMPLEMENTATION_H
#define PROPERTIES_CASE_IMPLEMENTATION_H

#include <kvwitness/case.h>
#include <kvwitness/domain.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "properties/case/outcome.h"

namespace kvwitness::harness {

struct Availability {
  bool can_run = true;
  std::string why_not;
};

// What no case says because no right implementation can tell: what lies around the buffers, and where the guard pages
// stand.
struct MemoryContext {
  // Spare columns and canaries look like tokens of many segments, or like padding; the poison of a separate output
  // follows suit.
  enum class Fill : std::uint8_t { kTokens, kPadding };
  Fill fill = Fill::kTokens;
  // Guard pages stand directly behind each buffer, or directly in front of it.
  bool guard_in_front = false;
  friend bool operator==(const MemoryContext&, const MemoryContext&) = default;
};

// A run that is asked for together with others. The case outlives the call.
struct RunRequest {
  const Case* value;
  MemoryContext memory_context = {};
};

// Thrown by a run that is still waited for when the time of end_at() has come. It says nothing of the implementation.
struct TimeUp {};

class Implementation {
 public:
  virtual ~Implementation() = default;
  virtual std::string name() const = 0;
  // Whether this machine can run it. Must not be expensive; asked before anything runs.
  virtual Availability availability() const { return {}; }
  // Whether the implementation has the operation at all; one that it lacks is reported as not provided, never as
  // passed.
  virtual bool provides(Operation) const { return true; }
  // Whether it promises the refusals too. Without it, the harness makes only legal calls.
  virtual bool checks_arguments() const { return true; }
  // Whether a row stride reaches it for this operation; where not, the case's rows are passed packed and its stride is
  // not judged.
  virtual bool honours_stride(Operation) const { return true; }
  // What it says beforehand of the calls that it serves.
  virtual Domain domain() const { return whole_domain(); }
  // Whether the case's shape lies in its domain.
  virtual bool supports(const Case&) const { return true; }

  // Runs the case's prior calls, then the case. Never throws for what the implementation does.
  Outcome run(const Case& value) { return run_in(value, MemoryContext{}); }
  // The same in another memory context, which is ignored by an implementation that has no memory of the harness's
  // around its buffers.
  virtual Outcome run_in(const Case& value, const MemoryContext& memory_context) = 0;

  // How many runs to ask for together: more than one where an answer has a long way, as through a pipe.
  virtual std::size_t runs_together() const { return 1; }
  // Runs one after the other, with the outcomes of run_in(): up to the first that does not come back, whose outcome is
  // the last.
  virtual std::vector<Outcome> run_together(std::span<const RunRequest> requests);

  // Whether a row takes some hundred times what a function would, as on an executor of another machine's code. The
  // runner then spares it the further runs of metamorphic relations on large pinned cases, and the shared large cases of
  // all operations but one.
  virtual bool is_slow() const { return false; }

  // Forgets whatever earlier calls may have left behind, as a fresh process would: a worker process is replaced. False
  // where that cannot be done, or is not needed because calls leave nothing. The runner asks for it before it says that
  // a failure can be replayed.
  virtual bool restart() { return false; }
  // Whether a restart may take a thousand times what a call does. Counterexamples that need a restart for each attempt
  // are then made less small, but for the first ones.
  virtual bool starts_slowly() const { return false; }

  // Whether to wait for answers as briefly as is sensible, because a call that hangs is repeated in many variants.
  virtual void hurry(bool) {}

  // When to wait for no answer any more: a run that has none then throws TimeUp. Only of those that wait for another
  // process; others end by themselves.
  virtual void end_at(std::optional<std::chrono::steady_clock::time_point>) {}

  // Other implementations of the same library that can run here, which must give the same bits. They run in this
  // process, so nobody else's implementation has any.
  virtual std::span<const std::unique_ptr<Implementation>> peers() const { return {}; }
};

// Hands every question and every run to another implementation, which must outlive it. What wraps an implementation
// derives from this and overrides what it changes, so that no member is forgotten.
class ForwardingImplementation : public Implementation {
 public:
  explicit ForwardingImplementation(Implementation& inner) : inner_(&inner) {}

  std::string name() const override { return inner_->name(); }
  Availability availability() const override { return inner_->availability(); }
  bool provides(Operation operation) const override { return inner_->provides(operation); }
  bool checks_arguments() const override { return inner_->checks_arguments(); }
  bool honours_stride(Operation operation) const override { return inner_->honours_stride(operation); }
  Domain domain() const override { return inner_->domain(); }
  bool supports(const Case& value) const override { return inner_->supports(value); }
  Outcome run_in(const Case& value, const MemoryContext& memory_context) override {
    return inner_->run_in(value, memory_context);
  }
  std::size_t runs_together() const override { return inner_->runs_together(); }
  std::vector<Outcome> run_together(std::span<const RunRequest> requests) override {
    return inner_->run_together(requests);
  }
  bool is_slow() const override { return inner_->is_slow(); }
  bool restart() override { return inner_->restart(); }
  bool starts_slowly() const override { return inner_->starts_slowly(); }
  void hurry(bool hurries) override { inner_->hurry(hurries); }
  void end_at(std::optional<std::chrono::steady_clock::time_point> end) override { inner_->end_at(end); }
  std::span<const std::unique_ptr<Implementation>> peers() const override { return inner_->peers(); }

 protected:
  Implementation& inner() const { return *inner_; }

 private:
  Implementation* inner_;
};

// Whether the case's row stride reaches the implementation. A strided call may take no number of elements, so a case
// whose `learned` has the wrong length is called packed.
bool sees_stride(const Implementation& implementation, const Case& value);

// Whether `learned` has rows * topk elements.
bool fills_its_shape(const Case& value);

// Whether the call is legal in every respect that a callee without argument checks may rely on: even a scatter that is
// switched off has a sound shape.
bool is_plain_call(const Case& value, bool strided);

// Whether the implementation lives on after the run: it returned, or was not called.
bool came_back(const Outcome& outcome);

// Runs the case's prior calls and then the case by `run_one`, and joins the outcomes; where one does not return, the
// whole does not.
Outcome run_in_order(const Case& value, const std::function<Outcome(const Case&)>& run_one);

}  // namespace kvwitness::harness

#endif  // PROPERTIES_CASE_IMPLEMENTATION_H
