// What can be judged: the registry of implementations, and the one way to run a Case on any of them.
//
// An Implementation turns a Case into an Outcome. Those that are functions over host pointers (backends, C ABI,
// plug-ins) derive from HostImplementation and see a Call whose buffers a CallFrame has laid out; others (the oracle,
// the CPU executor, a GPU, a pipe) implement run_in() themselves. One that may crash or hang is run in a worker process
// (worker.h).
#ifndef PROPERTIES_IMPLEMENTATIONS_H
#define PROPERTIES_IMPLEMENTATIONS_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "properties/case.h"
#include "properties/outcome.h"
#include "properties/patience.h"

namespace kvwitness::harness {

class FrameMemory;

struct Availability {
  bool can_run = true;
  std::string why_not;
};

// What no case says because no right implementation can tell: what lies around the buffers, and where the guard pages
// stand.
struct Surroundings {
  // Spare columns and canaries look like tokens of many segments, or like padding; the poison of a separate output
  // follows suit.
  enum class Fill : std::uint8_t { kTokens, kPadding };
  Fill fill = Fill::kTokens;
  // Guard pages stand directly behind each buffer, or directly in front of it.
  bool guard_in_front = false;
  friend bool operator==(const Surroundings&, const Surroundings&) = default;
};

// A run that is asked for together with others. The case outlives the call.
struct RunRequest {
  const Case* value;
  Surroundings surroundings = {};
};

class Implementation {
 public:
  virtual ~Implementation() = default;
  virtual std::string name() const = 0;
  // Whether this machine can run it. Must not be expensive; asked before anything runs.
  virtual Availability availability() const { return {}; }
  // Whether the implementation has the operation at all; one that it lacks is reported as not provided, never as
  // passed.
  virtual bool provides(Operation) const { return true; }
  // Whether it promises the refusals too. Without, the harness makes legal calls alone.
  virtual bool checks_arguments() const { return true; }
  // Whether a row stride reaches it for this operation; where not, the case's rows are passed packed and its stride is
  // not judged.
  virtual bool honours_stride(Operation) const { return true; }
  // Whether the case's shape lies in its domain.
  virtual bool supports(const Case&) const { return true; }

  // Runs the case's `after`, then the case. Never throws for what the implementation does.
  Outcome run(const Case& value) { return run_in(value, Surroundings{}); }
  // The same with other surroundings. An implementation that has no memory of the harness's around its buffers ignores
  // them.
  virtual Outcome run_in(const Case& value, const Surroundings& surroundings) = 0;

  // How many runs to ask for together: more than one where an answer has a long way, as through a pipe.
  virtual std::size_t runs_together() const { return 1; }
  // Runs one after the other, with the outcomes of run_in(): up to the first that does not come back, whose outcome is
  // the last.
  virtual std::vector<Outcome> run_together(std::span<const RunRequest> requests);

  // Whether a row takes some hundred times what a function would, as on an executor of another machine's code. The
  // runner then spares it the relations' further runs of large pinned cases, and all but one operation's shared large
  // ones.
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
};

// Whether the case's row stride reaches the implementation. A strided call may take no number of elements, so a case
// whose `learned` has the wrong length is called packed.
bool sees_stride(const Implementation& implementation, const Case& value);

// Whether `learned` has rows * topk elements.
bool fills_its_shape(const Case& value);

// Whether the call is legal in every respect that a callee without argument checks may rely on: a scatter that is
// switched off too has a sound shape.
bool is_plain_call(const Case& value, bool strided);

// Whether the implementation lives on after the run: it returned, or was not called.
bool came_back(const Outcome& outcome);

// Runs the case's `after` and then the case by `run_alone`, and joins the outcomes; where one does not return, so does
// the whole.
Outcome run_in_order(const Case& value, const std::function<Outcome(const Case&)>& run_alone);

// One call over host pointers, as the C ABI takes it. `out` is the witnesses, apply's output (equal to `learned` in
// place) or, for scatter, the in-place buffer (equal to `learned` too).
struct Call {
  Operation operation;
  const std::int32_t* learned;
  std::int64_t learned_len;  // elements of `learned` in the case; rows * topk for a legal call, whatever the stride
  std::int64_t row_stride;   // elements; topk where packed
  std::int64_t topk;
  const std::int32_t* context_lens;
  std::int64_t rows;
  std::int64_t learned_keep;
  std::int64_t num_segments;
  std::int64_t max_replacements;
  std::int32_t* out;
};

class HostImplementation : public Implementation {
 public:
  struct Answer {
    std::int32_t status;
    std::string message;
  };

  HostImplementation();
  ~HostImplementation() override;

  // Lays the case out in memory (alignment, stride, canaries, guard pages), calls in this process, and reads everything
  // back.
  Outcome run_in(const Case& value, const Surroundings& surroundings) override;
  // How long a worker process may take for a call before it counts as hung.
  virtual Patience::Limits limits() const { return {}; }
  // Makes one call. Public for the worker process, which lays its calls out elsewhere.
  virtual Answer call(const Call& call) = 0;

 private:
  Outcome run_alone(const Case& value, const Surroundings& surroundings);
  std::unique_ptr<FrameMemory> memory_;  // reused from run to run, so that stale addresses and stale contents show
};

// Every implementation this build knows, in the order of `kvwitness list`: oracle, c-abi, the backends,
// cuda-emulated-*, cuda-*. Includes those that cannot run here (their availability says why).
std::vector<std::unique_ptr<Implementation>> all_implementations();
// One by name; null where the name is unknown.
std::unique_ptr<Implementation> find_implementation(std::string_view name);

// The families that all_implementations() lists, in this order; each may live in a file of its own.
std::unique_ptr<Implementation> make_oracle();
std::unique_ptr<Implementation> make_c_abi();
std::vector<std::unique_ptr<Implementation>> make_backends();
// The CUDA kernels, a block and a warp to a row: on the CPU executor, and on a GPU.
std::vector<std::unique_ptr<Implementation>> make_cuda_emulated();
std::vector<std::unique_ptr<Implementation>> make_cuda();

}  // namespace kvwitness::harness

#endif  // PROPERTIES_IMPLEMENTATIONS_H
