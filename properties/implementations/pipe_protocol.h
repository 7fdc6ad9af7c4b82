// What goes through a pipe: the hello, requests and answers, as bytes.
//
// All numbers are little-endian, and every frame begins with the magic number 0x5057564B.
//
// The program writes a hello first:
//   u32 magic
//   u32 version            1
//   u32 name_bytes
//   u8  name[name_bytes]
//
// Then it reads requests until its input ends:
//   u32 magic
//   u32 sequence
//   u32 operation          0 witnesses, 1 apply, 2 scatter
//   u32 zero
//   i64 rows
//   i64 topk
//   i64 row_stride
//   i64 num_segments
//   i64 learned_keep
//   i64 max_replacements
//   i64 base_offset
//   i64 data_len           (rows - 1) * row_stride + topk; 0 where rows or topk is 0
//   i32 context_lens[rows]
//   i32 data[data_len]
//
// and writes an answer to each, in order:
//   u32 magic
//   u32 sequence           the request's
//   i32 status             a kvw_status number; -1: the shape is not supported
//   u32 zero
//   i64 count              0 where status is not 0
//   i32 result[count]      witnesses: [rows, num_segments]
//                          apply and scatter: the whole data, spare columns included
#ifndef PROPERTIES_IMPLEMENTATIONS_PIPE_PROTOCOL_H
#define PROPERTIES_IMPLEMENTATIONS_PIPE_PROTOCOL_H

#include <kvwitness/case.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "properties/case/implementation.h"
#include "properties/case/outcome.h"

namespace kvwitness::harness::pipe_protocol {

static_assert(std::endian::native == std::endian::little,
              "the frames are little-endian, and so are the numbers copied into them");

struct HelloHead {
  std::uint32_t magic;
  std::uint32_t version;
  std::uint32_t name_bytes;
};
static_assert(sizeof(HelloHead) == 12);

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

template <typename Head>
Head head_of(std::span<const std::byte> bytes) {
  Head head;
  std::memcpy(&head, bytes.data(), sizeof(head));
  return head;
}

// What is wrong with a hello, as a sentence; "" where nothing is.
std::string hello_error(const HelloHead& head);
// The program's name from the bytes after the hello's head, with what a terminal would not print as question marks.
std::string name_from(std::span<const std::byte> bytes);

// Whether the case's rows are sent with its stride, and with which stride they are sent.
bool is_strided(const Case& value);
std::int64_t stride_of(const Case& value);
// data_len of the case's request.
std::int64_t data_elements(const Case& value);

// The data of the case's request. Spare columns hold what the memory context says.
std::vector<std::int32_t> data_of(const Case& value, const MemoryContext& memory_context);
RequestHead request_head(const Case& value, std::uint32_t sequence);

// What is wrong with the head of an answer to the case, as a sentence; "" where nothing is.
std::string answer_error(const AnswerHead& head, const Case& value, std::uint32_t sequence);
// The outcome of an answer whose head is right. `data` is what was sent.
Outcome outcome_of(const Case& value, std::int32_t status, std::span<const std::int32_t> data,
                   std::span<const std::int32_t> result, const MemoryContext& memory_context);

}  // namespace kvwitness::harness::pipe_protocol

#endif  // PROPERTIES_IMPLEMENTATIONS_PIPE_PROTOCOL_H
