#include "properties/implementations/pipe_protocol.h"

#include "properties/case/status.h"
#include "properties/sandbox/call_frame.h"

namespace kvwitness::harness::pipe_protocol {
namespace {

constexpr std::uint32_t kMagic = 0x5057564B;
constexpr std::uint32_t kVersion = 1;
constexpr std::uint32_t kMostNameBytes = 4096;
constexpr std::int32_t kStatusNotSupported = -1;

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

// The rows of the data that came back, and the first spare column in it that changed.
void read_rows(const Case& value, std::span<const std::int32_t> data, std::span<const std::int32_t> result,
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

}  // namespace

std::string hello_error(const HelloHead& head) {
  if (head.magic != kMagic) {
    return "its hello does not begin with 0x5057564B";
  }
  if (head.version != kVersion) {
    return "its hello has version " + std::to_string(head.version) + "; this harness speaks version " +
           std::to_string(kVersion);
  }
  if (head.name_bytes > kMostNameBytes) {
    return "its hello gives a name of " + std::to_string(head.name_bytes) + " bytes; " +
           std::to_string(kMostNameBytes) + " are the most";
  }
  return "";
}

std::string name_from(std::span<const std::byte> bytes) {
  std::string name;
  for (const std::byte byte : bytes) {
    const char letter = static_cast<char>(byte);
    name += letter >= ' ' && letter <= '~' ? letter : '?';
  }
  return name;
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

RequestHead request_head(const Case& value, std::uint32_t sequence) {
  return {.magic = kMagic,
          .sequence = sequence,
          .operation = static_cast<std::uint32_t>(value.operation),
          .zero = 0,
          .rows = value.rows(),
          .topk = value.topk,
          .row_stride = stride_of(value),
          .num_segments = value.num_segments,
          .learned_keep = value.learned_keep,
          .max_replacements = value.max_replacements,
          .base_offset = value.base_offset,
          .data_len = data_elements(value)};
}

std::string answer_error(const AnswerHead& head, const Case& value, std::uint32_t sequence) {
  if (head.magic != kMagic) {
    return "its answer does not begin with 0x5057564B";
  }
  if (head.sequence != sequence) {
    return "its answer has the sequence number " + std::to_string(head.sequence) + ", not " + std::to_string(sequence);
  }
  if (head.zero != 0) {
    return "the fourth word of its answer is " + std::to_string(head.zero) + ", not 0";
  }
  const std::int64_t whole = value.operation == Operation::kWitnesses ? output_elements(value) : data_elements(value);
  const std::int64_t count = head.status == status::kOk ? whole : 0;
  if (head.count != count) {
    return "its answer counts " + std::to_string(head.count) + " elements, not " + std::to_string(count);
  }
  return "";
}

Outcome outcome_of(const Case& value, std::int32_t status, std::span<const std::int32_t> data,
                   std::span<const std::int32_t> result, const MemoryContext& memory_context) {
  if (status == kStatusNotSupported) {
    return Outcome::ended(Ending::kUnsupported, "the program does not support the shape");
  }
  Outcome outcome;
  outcome.status = status;
  const bool merges = value.operation != Operation::kWitnesses;
  const bool in_place = value.operation == Operation::kScatter || value.in_place;
  if (in_place) {
    outcome.before = value.learned;
  } else {
    outcome.before.assign(static_cast<std::size_t>(output_elements(value)), output_poison(value, memory_context.fill));
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

}  // namespace kvwitness::harness::pipe_protocol
