// Pipes: any program that reads requests from its standard input and writes answers to its standard output, as an
// implementation. pipe_protocol.h says what it reads and writes.
//
// Requests are legal calls only; several are sent ahead where the harness asks for several runs. What the program
// writes to its standard error passes through.
#ifndef PROPERTIES_IMPLEMENTATIONS_PIPE_H
#define PROPERTIES_IMPLEMENTATIONS_PIPE_H

#include <chrono>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>

#include "properties/case/implementation.h"
#include "properties/sandbox/deadline_policy.h"

namespace kvwitness::harness {

// How long a pipe may take: its start, and the first call of a shape, may import and compile a good deal.
inline constexpr DeadlineLimits kPipeLimits{.call = std::chrono::milliseconds(5000),
                                            .warm_up_call = std::chrono::milliseconds(60000),
                                            .seasoned_warm_up_call = std::chrono::milliseconds(60000),
                                            .elements_per_second = std::int64_t{1} << 18};  // of an interpreter

// How long to wait after an answer for surplus bytes, where calls are few. Otherwise those mostly show with the next
// answer; the wait is then short, and begins once the program has broken the protocol.
inline constexpr std::chrono::milliseconds kWaitOfFewCalls{20};

// Starts `sh -c COMMAND` and waits for its hello. The error is the reason, for the person who gave the command.
std::expected<std::unique_ptr<Implementation>, std::string> open_pipe(const std::string& command,
                                                                      const DeadlineLimits& limits = kPipeLimits,
                                                                      std::chrono::milliseconds wait_for_more = {});

}  // namespace kvwitness::harness

#endif  // PROPERTIES_IMPLEMENTATIONS_PIPE_H
