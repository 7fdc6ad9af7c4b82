#include "properties/implementations/pipe.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "properties/implementations/pipe_protocol.h"
#include "properties/implementations/program_pipe.h"
#include "properties/sandbox/call.h"
#include "properties/sandbox/system_calls.h"

namespace kvwitness::harness {
namespace {

using namespace pipe_protocol;
using Clock = ProgramPipe::Clock;
using std::chrono::milliseconds;

// How long to wait for surplus bytes once the program has broken the protocol.
constexpr milliseconds kWaitOfManyCalls{3};
// More than this is not sent through a pipe: the shape counts as unsupported.
constexpr int kMostDataElementsLog2 = 26;
constexpr std::int64_t kMostDataElements = std::int64_t{1} << kMostDataElementsLog2;
// How much may be sent ahead: requests that are not answered yet, and their elements with those of their answers.
constexpr std::size_t kMostRequests = 32;
constexpr std::int64_t kMostElementsAhead = std::int64_t{1} << 18;

class PipeImplementation final : public Implementation {
 public:
  PipeImplementation(std::string command, const DeadlineLimits& limits, milliseconds wait_for_more)
      : command_(std::move(command)), deadlines_(limits), wait_for_more_(wait_for_more) {}

  // Starts the program and reads its hello, where it does not run. The error says what went wrong.
  std::optional<Outcome> start() {
    if (program_) {
      return std::nullopt;
    }
    ++starts_;
    auto started = ProgramPipe::start(command_);
    if (!started) {
      return Outcome::ended(Ending::kCrashed, started.error());
    }
    program_.emplace(std::move(*started));
    program_->end_at(end_);
    answered_shapes_.clear();
    sequence_ = 0;
    const Clock::time_point begun = Clock::now();
    const auto error = read_hello(begun + deadlines_.limit(true, 0));
    if (!error) {
      deadlines_.note_answer(true, std::chrono::duration_cast<milliseconds>(Clock::now() - begun));
    }
    return error;
  }

  std::string name() const override { return name_; }
  bool restart() override {
    program_.reset();
    return true;
  }
  bool starts_slowly() const override { return true; }
  void hurry(bool hurries) override { deadlines_.hurry(hurries); }
  void end_at(std::optional<Clock::time_point> end) override {
    deadlines_.end_at(end);
    end_ = end;
    if (program_) {
      program_->end_at(end);
    }
  }
  bool checks_arguments() const override { return false; }
  bool supports(const Case& value) const override {
    return is_plain_call(value, is_strided(value)) &&
           std::max(data_elements(value), output_elements(value)) <= kMostDataElements;
  }

  // One request at a time: a program that ends or hangs shows by which.
  Outcome run_in(const Case& value, const MemoryContext& memory_context) override {
    return run_in_order(value, [&](const Case& call) {
      const RunRequest request{&call, memory_context};
      return std::move(make_calls({&request, 1}).front());
    });
  }

  std::size_t runs_together() const override { return kMostRequests; }
  std::vector<Outcome> run_together(std::span<const RunRequest> requests) override {
    std::vector<RunRequest> calls;
    for (const auto& [value, memory_context] : requests) {
      for (const Case& prior : value->prior_calls) calls.push_back({&prior, memory_context});
      calls.push_back({value, memory_context});
    }
    std::vector<Outcome> answers = make_calls(calls);
    std::vector<Outcome> outcomes;
    auto answer = answers.begin();
    for (const RunRequest& request : requests) {
      if (answer == answers.end()) break;
      outcomes.push_back(run_in_order(*request.value, [&](const Case&) { return std::move(*answer++); }));
    }
    return outcomes;
  }

 private:
  Outcome protocol_error(std::string how) {
    program_.reset();
    wait_for_more_ = std::max(wait_for_more_, kWaitOfManyCalls);
    return Outcome::ended(Ending::kProtocolError, std::move(how));
  }

  Outcome no_answer(NoAnswer reason, const char* where) {
    if (reason == NoAnswer::kDeadline && deadlines_.is_over()) {
      program_.reset();
      throw TimeUp{};
    }
    if (reason == NoAnswer::kDeadline) {
      deadlines_.note_hang();
    }
    Outcome outcome = program_->end(reason);
    program_.reset();
    outcome.how += where;
    if (reason == NoAnswer::kDeadline) {
      outcome.how += " (does it flush what it writes?)";
    }
    return outcome;
  }

  std::optional<Outcome> read_hello(Clock::time_point deadline) {
    const auto head_bytes = program_->receive(sizeof(HelloHead), deadline);
    if (!head_bytes) {
      return no_answer(head_bytes.error(), " before its hello");
    }
    const auto head = head_of<HelloHead>(*head_bytes);
    if (std::string error = hello_error(head); !error.empty()) {
      return protocol_error(std::move(error));
    }
    const auto bytes = program_->receive(sizeof(HelloHead) + head.name_bytes, deadline);
    if (!bytes) {
      return no_answer(bytes.error(), " within its hello");
    }
    if (name_.empty()) {  // a program that is started again keeps its name
      name_ = head.name_bytes == 0 ? "pipe" : name_from(bytes->subspan(sizeof(HelloHead)));
    }
    program_->consume(sizeof(HelloHead) + head.name_bytes);
    return std::nullopt;
  }

  // Makes the calls in order, up to the first that does not come back. Their prior calls are not looked at.
  std::vector<Outcome> make_calls(std::span<const RunRequest> calls) {
    std::vector<Outcome> outcomes;
    while (outcomes.size() < calls.size()) {
      const auto rest = calls.subspan(outcomes.size());
      if (!supports(*rest.front().value)) {
        outcomes.push_back(Outcome::ended(
            Ending::kUnsupported,
            "a pipe is sent only legal calls, of at most 2^" + std::to_string(kMostDataElementsLog2) + " elements"));
        continue;
      }
      if (!program_ && !has_answered_ && starts_ >= kMostStartsWithoutAnswer && last_failure_) {
        outcomes.push_back(*last_failure_);
      } else if (auto failed = start()) {
        failed->how = "at its start: " + failed->how;
        outcomes.push_back(std::move(*failed));
      } else if (program_->has_unread_bytes(0)) {
        outcomes.push_back(protocol_error("the program wrote bytes that no request asked for"));
      } else {
        ask_together(rest.first(number_to_ask(rest)), outcomes);
      }
      if (!came_back(outcomes.back())) {
        last_failure_ = outcomes.back();
        break;
      }
    }
    return outcomes;
  }

  static std::int64_t elements_of(const Case& value) { return data_elements(value) + output_elements(value); }

  // Of calls whose first is supported.
  std::size_t number_to_ask(std::span<const RunRequest> calls) const {
    std::int64_t elements = elements_of(*calls.front().value);
    std::size_t number = 1;
    while (number < std::min(calls.size(), kMostRequests) && supports(*calls[number].value) &&
           (elements += elements_of(*calls[number].value)) <= kMostElementsAhead) {
      ++number;
    }
    return number;
  }

  // Sends all requests, then reads the answers. Where one is wrong, it is the last of the outcomes.
  void ask_together(std::span<const RunRequest> calls, std::vector<Outcome>& outcomes) {
    std::vector<std::vector<std::int32_t>> data;
    for (const auto& [value, memory_context] : calls) {
      data.push_back(data_of(*value, memory_context));
      send_request(*value, data.back());
    }
    Clock::time_point begun = Clock::now();
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const auto& [value, memory_context] = calls[i];
      const CallShape shape = call_shape_of(*value, is_strided(*value));
      const bool is_warm_up = !answered_shapes_.contains(shape);
      const auto deadline = begun + deadlines_.limit(is_warm_up, elements_of(*value));
      requests_ahead_ = static_cast<std::uint32_t>(calls.size() - i - 1);
      Outcome outcome = read_answer(*value, data[i], memory_context, deadline);
      if (outcome.ending == Ending::kProtocolError && i > 0) {
        // Its bytes may be surplus ones of the answer before.
        if (Outcome before = std::move(make_calls(calls.subspan(i - 1, 1)).front());
            before.ending == Ending::kProtocolError) {
          outcomes.back() = std::move(before);
          return;
        }
        program_.reset();
      }
      outcomes.push_back(std::move(outcome));
      if (!came_back(outcomes.back())) return;
      const Clock::time_point now = Clock::now();
      if (outcomes.back().ending == Ending::kReturned) {
        answered_shapes_.insert(shape);
        has_answered_ = true;
        deadlines_.note_answer(is_warm_up, std::chrono::duration_cast<milliseconds>(now - begun));
      }
      begun = now;
    }
  }

  void send_request(const Case& value, std::span<const std::int32_t> data) {
    const RequestHead head = request_head(value, ++sequence_);
    program_->send(std::as_bytes(std::span(&head, 1)));
    program_->send(std::as_bytes(std::span(value.context_lens)));
    program_->send(std::as_bytes(data));
  }

  Outcome read_answer(const Case& value, std::span<const std::int32_t> data, const MemoryContext& memory_context,
                      Clock::time_point deadline) {
    const auto head_bytes = program_->receive(sizeof(AnswerHead), deadline);
    if (!head_bytes) {
      return no_answer(head_bytes.error(), "");
    }
    const auto head = head_of<AnswerHead>(*head_bytes);
    if (std::string error = answer_error(head, value, sequence_ - requests_ahead_); !error.empty()) {
      return protocol_error(std::move(error));
    }
    const std::size_t size = sizeof(AnswerHead) + static_cast<std::size_t>(head.count) * sizeof(std::int32_t);
    const auto bytes = program_->receive(size, deadline);
    if (!bytes) {
      return no_answer(bytes.error(), ", within its answer");
    }
    std::vector<std::int32_t> result(static_cast<std::size_t>(head.count));
    if (!result.empty()) {
      std::memcpy(result.data(), bytes->data() + sizeof(AnswerHead), result.size() * sizeof(std::int32_t));
    }
    program_->consume(size);
    if (requests_ahead_ == 0 && program_->has_unread_bytes(static_cast<int>(wait_for_more_.count()))) {
      return protocol_error("the program wrote more than its answer counts");
    }
    return outcome_of(value, head.status, data, result, memory_context);
  }

  std::string command_;
  DeadlinePolicy deadlines_;
  std::optional<Clock::time_point> end_;
  std::optional<ProgramPipe> program_;
  // A program that never answers is started a few times only, and ends every further call as it ended the last one.
  static constexpr int kMostStartsWithoutAnswer = 8;
  int starts_ = 0;
  bool has_answered_ = false;  // ever, and not by this process only
  std::optional<Outcome> last_failure_;
  milliseconds wait_for_more_;  // after an answer
  std::string name_;
  std::uint32_t sequence_ = 0;           // of the last request
  std::uint32_t requests_ahead_ = 0;     // sent after the one whose answer is read
  std::set<CallShape> answered_shapes_;  // by this process
};

}  // namespace

std::expected<std::unique_ptr<Implementation>, std::string> open_pipe(const std::string& command,
                                                                      const DeadlineLimits& limits,
                                                                      milliseconds wait_for_more) {
  try {
    require_system_calls();
  } catch (const NoIsolation& denied) {
    return std::unexpected(denied.what());
  }
  auto implementation = std::make_unique<PipeImplementation>(command, limits, wait_for_more);
  if (const auto failed = implementation->start()) {
    return std::unexpected(failed->how);
  }
  return implementation;
}

}  // namespace kvwitness::harness
