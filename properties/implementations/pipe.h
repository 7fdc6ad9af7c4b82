// Pipes: any program that reads requests from its standard input and writes answers to its standard output, as an
// implementation.
//
// All numbers are little-endian. The program first writes a hello: u32 0x5057564B, u32 version 1, u32 n, then its name
// in n bytes. Then it answers requests in order until its input ends.
//
//     request: u32 0x5057564B, u32 sequence, u32 operation (0 witnesses, 1 apply, 2 scatter), u32 0,
//              i64 rows, topk, row_stride, num_segments, learned_keep, max_replacements, base_offset, data_len,
//              i32 context_lens[rows], i32 data[data_len]    (data_len = (rows - 1) * row_stride + topk, 0 without rows or topk)
//     answer:  u32 0x5057564B, u32 sequence, i32 status (a kvw_status number; -1: shape not supported), u32 0, i64 count, i32 result[count]
//              (witnesses: rows * num_segments; apply and scatter: the whole data with its spare columns; count 0 where status is not 0)
//
// Requests are legal calls alone; some are under way together where the harness asks for several runs. What the program
// writes to its standard error passes through.
#ifndef PROPERTIES_IMPLEMENTATIONS_PIPE_H
#define PROPERTIES_IMPLEMENTATIONS_PIPE_H

#include <chrono>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>

#include "properties/case/implementation.h"
#include "properties/sandbox/patience.h"

namespace kvwitness::harness {

// How long a pipe may take: its start, and the first call of a shape, may import and compile a good deal.
inline constexpr Patience::Limits kPipeLimits{.call = std::chrono::milliseconds(5000),
                                              .unfamiliar = std::chrono::milliseconds(60000),
                                              .elements_per_second = std::int64_t{1} << 18};  // of an interpreter

// How long to wait behind an answer for bytes that it has too many, where calls are few. Otherwise those show with the
// next answer mostly, and the wait is short and begins when the program has broken the protocol.
inline constexpr std::chrono::milliseconds kWaitOfFewCalls{20};

// Starts `sh -c COMMAND` and waits for its hello. The error is the reason, for the person who gave the command.
std::expected<std::unique_ptr<Implementation>, std::string> open_pipe(const std::string& command,
                                                                      const Patience::Limits& limits = kPipeLimits,
                                                                      std::chrono::milliseconds wait_for_more = {});

}  // namespace kvwitness::harness

#endif  // PROPERTIES_IMPLEMENTATIONS_PIPE_H
