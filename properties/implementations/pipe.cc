#include "properties/implementations/pipe.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "properties/case/status.h"
#include "properties/implementations/program_pipe.h"
#include "properties/sandbox/call_frame.h"

namespace kvwitness::harness {
namespace {

static_assert(std::endian::native == std::endian::little,
              "the frames are little-endian, and so are the numbers copied into them");

using Clock = ProgramPipe::Clock;
using std::chrono::milliseconds;

constexpr std::uint32_t kMagic = 0x5057564B;
constexpr std::uint32_t kVersion = 1;
constexpr std::uint32_t kMostNameBytes = 4096;
constexpr std::int32_t kNotSupported = -1;
constexpr milliseconds kMoment{3};
// More than this is not sent through a pipe: the shape counts as unsupported.
constexpr std::int64_t kMostDataElements = std::int64_t{1} << 26;
// How much may be under way: requests that are not answered yet, and their elements with those of their answers.
constexpr std::size_t kMostRequests = 32;
constexpr std::int64_t kMostElementsUnderWay = std::int64_t{1} << 18;

struct RequestHead {
  std::uint32_t magic;
  std::uint32_t sequence;
  std::uint32_t operation;
  std::uint32_t zero;
  std::int64_t rows;
  std::int64_t topk;
  std::int64_t row_stride;
  std::int64_t num_segments;
  std::int64_t learned_keep;
  std::int64_t max_replacements;
  std::int64_t base_offset;
  std::int64_t data_len;
};
static_assert(sizeof(RequestHead) == 80);

struct AnswerHead {
  std::uint32_t magic;
  std::uint32_t sequence;
  std::int32_t status;
  std::uint32_t zero;
  std::int64_t count;
};
static_assert(sizeof(AnswerHead) == 24);

struct HelloHead {
  std::uint32_t magic;
  std::uint32_t version;
  std::uint32_t name_bytes;
};
static_assert(sizeof(HelloHead) == 12);

template <typename Head>
Head head_of(std::span<const std::byte> bytes) {
  Head head;
  std::memcpy(&head, bytes.data(), sizeof(head));
  return head;
}

bool is_strided(const Case& value) {
  return value.row_stride.has_value() && fills_its_shape(value);
}

std::int64_t stride_of(const Case& value) {
  return is_strided(value) ? *value.row_stride : value.topk;
}

std::int64_t data_elements(const Case& value) {
  return value.rows() == 0 || value.topk == 0 ? 0 : (value.rows() - 1) * stride_of(value) + value.topk;
}

// The row and column of a position in the data. A single row may have any stride, also one below topk.
struct Position {
  std::int64_t row;
  std::int64_t column;
};
Position locate(const Case& value, std::int64_t position) {
  const std::int64_t stride = value.rows() > 1 ? stride_of(value) : value.topk;
  return {position / stride, position % stride};
}

// What lies in a spare column: any value that an answer must bring back. A token, so that reading it as one shows.
std::int32_t spare_value(std::int64_t position, MemoryContext::Fill fill) {
  const auto noise = static_cast<std::uint32_t>(position) * 2654435761u;
  return static_cast<std::int32_t>(fill == MemoryContext::Fill::kTokens ? (noise >> 1) >> (position % 31)
                                                                        : noise | 0x80000000u);
}

std::vector<std::int32_t> data_of(const Case& value, const MemoryContext& memory_context) {
  std::vector<std::int32_t> data(static_cast<std::size_t>(data_elements(value)));
  for (std::int64_t position = 0; position < std::ssize(data); ++position) {
    const auto [row, column] = locate(value, position);
    data[static_cast<std::size_t>(position)] = column < value.topk
                                                   ? value.learned[static_cast<std::size_t>(row * value.topk + column)]
                                                   : spare_value(position, memory_context.fill);
  }
  return data;
}

class PipeImplementation final : public Implementation {
 public:
  PipeImplementation(std::string command, const Patience::Limits& limits, milliseconds wait_for_more)
      : command_(std::move(command)), patience_(limits), wait_for_more_(wait_for_more) {}

  // Starts the program and reads its hello, where it does not run. The error says what went wrong.
  std::optional<Outcome> start() {
    if (program_) {
      return std::nullopt;
    }
    auto started = ProgramPipe::start(command_);
    if (!started) {
      return Outcome::ended(Ending::kCrashed, started.error());
    }
    program_.emplace(std::move(*started));
    shapes_.clear();
    sequence_ = 0;
    const Clock::time_point begun = Clock::now();
    const auto wrong = read_hello(begun + patience_.limit(true, 0));
    if (!wrong) {
      patience_.answered(true, std::chrono::duration_cast<milliseconds>(Clock::now() - begun));
    }
    return wrong;
  }

  std::string name() const override { return name_; }
  bool restart() override {
    program_.reset();
    return true;
  }
  bool starts_slowly() const override { return true; }
  void hurry(bool hurries) override { patience_.hurry(hurries); }
  bool checks_arguments() const override { return false; }
  bool supports(const Case& value) const override {
    return is_plain_call(value, is_strided(value)) &&
           std::max(data_elements(value), output_elements(value)) <= kMostDataElements;
  }

  // One request at a time: a program that ends or hangs shows by which.
  Outcome run_in(const Case& value, const MemoryContext& memory_context) override {
    return run_in_order(value, [&](const Case& call) {
      const RunRequest request{&call, memory_context};
      return std::move(converse({&request, 1}).front());
    });
  }

  std::size_t runs_together() const override { return kMostRequests; }
  std::vector<Outcome> run_together(std::span<const RunRequest> requests) override {
    std::vector<RunRequest> calls;
    for (const auto& [value, memory_context] : requests) {
      for (const Case& earlier : value->prior_calls) calls.push_back({&earlier, memory_context});
      calls.push_back({value, memory_context});
    }
    std::vector<Outcome> answers = converse(calls);
    std::vector<Outcome> outcomes;
    auto answer = answers.begin();
    for (const RunRequest& request : requests) {
      if (answer == answers.end()) break;
      outcomes.push_back(run_in_order(*request.value, [&](const Case&) { return std::move(*answer++); }));
    }
    return outcomes;
  }

 private:
  Outcome broke_the_protocol(std::string how) {
    program_.reset();
    wait_for_more_ = std::max(wait_for_more_, kMoment);
    return Outcome::ended(Ending::kProtocolError, std::move(how));
  }

  Outcome silent(Silence silence, const char* where) {
    if (silence == Silence::kDeadline) {
      patience_.hung();
    }
    Outcome outcome = program_->end(silence);
    program_.reset();
    outcome.how += where;
    if (silence == Silence::kDeadline) {
      outcome.how += " (does it flush what it writes?)";
    }
    return outcome;
  }

  std::optional<Outcome> read_hello(Clock::time_point deadline) {
    const auto head_bytes = program_->receive(sizeof(HelloHead), deadline);
    if (!head_bytes) {
      return silent(head_bytes.error(), " before its hello");
    }
    const auto head = head_of<HelloHead>(*head_bytes);
    if (head.magic != kMagic) {
      return broke_the_protocol("its hello does not begin with 0x5057564B");
    }
    if (head.version != kVersion) {
      return broke_the_protocol("its hello has version " + std::to_string(head.version) +
                                "; this harness speaks version " + std::to_string(kVersion));
    }
    if (head.name_bytes > kMostNameBytes) {
      return broke_the_protocol("its hello gives a name of " + std::to_string(head.name_bytes) + " bytes; " +
                                std::to_string(kMostNameBytes) + " are the most");
    }
    const auto bytes = program_->receive(sizeof(HelloHead) + head.name_bytes, deadline);
    if (!bytes) {
      return silent(bytes.error(), " within its hello");
    }
    if (name_.empty()) {  // a program that is started again keeps its name
      for (const std::byte byte : bytes->subspan(sizeof(HelloHead))) {
        const char letter = static_cast<char>(byte);
        name_ += letter >= ' ' && letter <= '~' ? letter : '?';
      }
      name_ = name_.empty() ? "pipe" : name_;
    }
    program_->consume(sizeof(HelloHead) + head.name_bytes);
    return std::nullopt;
  }

  // Makes the calls in order, up to the first that does not come back. Their `after` is not looked at.
  std::vector<Outcome> converse(std::span<const RunRequest> calls) {
    std::vector<Outcome> outcomes;
    while (outcomes.size() < calls.size()) {
      const auto rest = calls.subspan(outcomes.size());
      if (!supports(*rest.front().value)) {
        outcomes.push_back(
            Outcome::ended(Ending::kUnsupported, "a pipe is sent legal calls of at most 2^26 elements alone"));
        continue;
      }
      if (auto failed = start()) {
        failed->how = "at its start: " + failed->how;
        outcomes.push_back(std::move(*failed));
      } else if (program_->has_unread_bytes(0)) {
        outcomes.push_back(broke_the_protocol("the program wrote bytes that no request asked for"));
      } else {
        ask_together(rest.first(number_to_ask(rest)), outcomes);
      }
      if (!came_back(outcomes.back())) break;
    }
    return outcomes;
  }

  static std::int64_t elements_of(const Case& value) { return data_elements(value) + output_elements(value); }

  // Of calls whose first is supported.
  std::size_t number_to_ask(std::span<const RunRequest> calls) const {
    std::int64_t elements = elements_of(*calls.front().value);
    std::size_t number = 1;
    while (number < std::min(calls.size(), kMostRequests) && supports(*calls[number].value) &&
           (elements += elements_of(*calls[number].value)) <= kMostElementsUnderWay) {
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
      const bool unfamiliar = !shapes_.contains(shape_key(*value));
      const auto deadline = begun + patience_.limit(unfamiliar, elements_of(*value));
      under_way_ = static_cast<std::uint32_t>(calls.size() - i - 1);
      Outcome outcome = read_answer(*value, data[i], memory_context, deadline);
      if (outcome.ending == Ending::kProtocolError && i > 0) {
        // Its bytes may be those that the answer before had too many.
        if (Outcome before = std::move(converse(calls.subspan(i - 1, 1)).front());
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
        shapes_.insert(shape_key(*value));
        patience_.answered(unfamiliar, std::chrono::duration_cast<milliseconds>(now - begun));
      }
      begun = now;
    }
  }

  void send_request(const Case& value, std::span<const std::int32_t> data) {
    const RequestHead head{.magic = kMagic,
                           .sequence = ++sequence_,
                           .operation = static_cast<std::uint32_t>(value.operation),
                           .zero = 0,
                           .rows = value.rows(),
                           .topk = value.topk,
                           .row_stride = stride_of(value),
                           .num_segments = value.num_segments,
                           .learned_keep = value.learned_keep,
                           .max_replacements = value.max_replacements,
                           .base_offset = value.base_offset,
                           .data_len = std::ssize(data)};
    program_->send(std::as_bytes(std::span(&head, 1)));
    program_->send(std::as_bytes(std::span(value.context_lens)));
    program_->send(std::as_bytes(data));
  }

  // What is wrong with the head of an answer; empty where nothing is.
  std::string fault_of(const AnswerHead& head, std::int64_t wanted_count) const {
    if (head.magic != kMagic) {
      return "its answer does not begin with 0x5057564B";
    }
    const std::uint32_t sequence = sequence_ - under_way_;
    if (head.sequence != sequence) {
      return "its answer has the sequence number " + std::to_string(head.sequence) + ", not " +
             std::to_string(sequence);
    }
    if (head.zero != 0) {
      return "the fourth word of its answer is " + std::to_string(head.zero) + ", not 0";
    }
    if (head.count != wanted_count) {
      return "its answer counts " + std::to_string(head.count) + " elements, not " + std::to_string(wanted_count);
    }
    return "";
  }

  Outcome read_answer(const Case& value, std::span<const std::int32_t> data, const MemoryContext& memory_context,
                      Clock::time_point deadline) {
    const auto head_bytes = program_->receive(sizeof(AnswerHead), deadline);
    if (!head_bytes) {
      return silent(head_bytes.error(), "");
    }
    const auto head = head_of<AnswerHead>(*head_bytes);
    const bool merges = value.operation != Operation::kWitnesses;
    const std::int64_t full_count = merges ? std::ssize(data) : output_elements(value);
    if (const std::string fault = fault_of(head, head.status == status::kOk ? full_count : 0); !fault.empty()) {
      return broke_the_protocol(fault);
    }
    const std::size_t size = sizeof(AnswerHead) + static_cast<std::size_t>(head.count) * sizeof(std::int32_t);
    const auto bytes = program_->receive(size, deadline);
    if (!bytes) {
      return silent(bytes.error(), ", within its answer");
    }
    std::vector<std::int32_t> result(static_cast<std::size_t>(head.count));
    if (!result.empty()) {
      std::memcpy(result.data(), bytes->data() + sizeof(AnswerHead), result.size() * sizeof(std::int32_t));
    }
    program_->consume(size);
    if (under_way_ == 0 && program_->has_unread_bytes(static_cast<int>(wait_for_more_.count()))) {
      return broke_the_protocol("the program wrote more than its answer counts");
    }
    return outcome_of(value, head.status, data, result, memory_context);
  }

  static Outcome outcome_of(const Case& value, std::int32_t status, std::span<const std::int32_t> data,
                            std::span<const std::int32_t> result, const MemoryContext& memory_context) {
    if (status == kNotSupported) {
      return Outcome::ended(Ending::kUnsupported, "the program does not support the shape");
    }
    Outcome outcome;
    outcome.status = status;
    const bool merges = value.operation != Operation::kWitnesses;
    const bool in_place = value.operation == Operation::kScatter || value.in_place;
    if (in_place) {
      outcome.before = value.learned;
    } else {
      outcome.before.assign(static_cast<std::size_t>(output_elements(value)),
                            output_poison(value, memory_context.fill));
    }
    if (status != status::kOk) {
      outcome.rows = outcome.before;
    } else if (!merges) {
      outcome.rows.assign(result.begin(), result.end());
    } else {
      read_rows(value, data, result, outcome);
    }
    return outcome;
  }

  // The rows of the data that came back, and the first spare column in it that changed.
  static void read_rows(const Case& value, std::span<const std::int32_t> data, std::span<const std::int32_t> result,
                        Outcome& outcome) {
    outcome.rows.reserve(value.learned.size());
    for (std::int64_t position = 0; position < std::ssize(result); ++position) {
      const auto at = static_cast<std::size_t>(position);
      const auto [row, column] = locate(value, position);
      if (column < value.topk) {
        outcome.rows.push_back(result[at]);
      } else if (result[at] != data[at] && outcome.stray.empty()) {
        outcome.stray = "spare column " + std::to_string(column) + " of row " + std::to_string(row) +
                        " of the rows changed from " + std::to_string(data[at]) + " to " + std::to_string(result[at]);
      }
    }
  }

  using ShapeKey = std::tuple<Operation, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int32_t>;
  static ShapeKey shape_key(const Case& value) {
    return {value.operation, value.rows(), value.topk, stride_of(value), value.num_segments, value.base_offset};
  }

  std::string command_;
  Patience patience_;
  std::optional<ProgramPipe> program_;
  milliseconds wait_for_more_;  // behind an answer
  std::string name_;
  std::uint32_t sequence_ = 0;   // of the last request
  std::uint32_t under_way_ = 0;  // requests behind the one whose answer is read
  std::set<ShapeKey> shapes_;    // that this process has answered
};

}  // namespace

std::expected<std::unique_ptr<Implementation>, std::string> open_pipe(const std::string& command,
                                                                      const Patience::Limits& limits,
                                                                      milliseconds wait_for_more) {
  auto implementation = std::make_unique<PipeImplementation>(command, limits, wait_for_more);
  if (const auto failed = implementation->start()) {
    return std::unexpected(failed->how);
  }
  return implementation;
}

}  // namespace kvwitness::harness
