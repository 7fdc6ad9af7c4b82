#include "fuzz/c_functions/refusal_rule.h"

#include <algorithm>
#include <initializer_list>
#include <limits>

#include "properties/case/status.h"

namespace kvwitness::fuzz {
namespace {

namespace status = harness::status;

// Wide enough for every product of two counts.
using Wide = __int128;

constexpr Wide kMostBytes = std::numeric_limits<std::ptrdiff_t>::max();
constexpr Wide kInt32Bytes = 4;

struct NamedCount {
  std::string_view name;
  std::int64_t value;
  std::int64_t minimum = 0;
};

struct NamedBuffer {
  std::string_view name;
  std::int32_t pointer;
  Wide bytes;  // its span: 0 where the call neither reads nor writes it
};

constexpr Wide bytes_of(Wide elements) {
  constexpr Wide kMost = Wide{1} << 100;
  return std::clamp(elements, -kMost, kMost) * kInt32Bytes;
}

// Elements from the first row's start to the last row's last slot; more than any buffer holds stays that, and no sum of
// it overflows.
constexpr Wide strided_span(Wide rows, Wide stride, Wide topk) {
  constexpr Wide kMost = Wide{1} << 100;
  return rows == 0 || topk == 0 ? 0 : std::min(kMost, (rows - 1) * stride + topk);
}

bool share_a_byte(const NamedBuffer& a, const NamedBuffer& b) {
  return a.bytes > 0 && b.bytes > 0 && a.pointer < b.pointer + b.bytes && b.pointer < a.pointer + a.bytes;
}

// The steps of the contract, of which the first that fails counts.
class Steps {
 public:
  void counts(std::initializer_list<NamedCount> counts) {
    for (const NamedCount& count : counts) {
      refuse_if(count.value < count.minimum, status::kNegativeCount, count.name);
    }
  }
  void refuse_if(bool wrong, std::int32_t number, std::string_view argument) {
    if (ruling_.status == status::kOk && wrong) {
      ruling_.status = number;
      ruling_.argument = argument;
    }
  }
  void rows_product(std::string_view len_name, std::int64_t len, std::int64_t topk, std::int64_t rows) {
    refuse_if(Wide{len} != Wide{topk} * rows, status::kRowsMismatch, len_name);
    contiguous(len_name, len);
    contiguous("rows", rows);
  }
  void contiguous(std::string_view name, Wide elements) {
    refuse_if(bytes_of(elements) > kMostBytes, status::kRowsMismatch, name);
  }
  void merge_segments(std::int64_t num_segments) {
    refuse_if(num_segments == 0 || num_segments > 64, status::kSegmentsOutOfRange, "num_segments");
  }
  void indices_segments(std::int64_t num_segments, std::int64_t rows) {
    refuse_if(num_segments == 0 || bytes_of(Wide{num_segments} * rows) > kMostBytes, status::kSegmentsOutOfRange,
              "num_segments");
  }
  void keep(std::int64_t learned_keep, std::int64_t topk) {
    refuse_if(learned_keep > topk, status::kLearnedKeepOutOfRange, "learned_keep");
  }
  void length(std::string_view name, std::int64_t context_len) {
    refuse_if(context_len > std::numeric_limits<std::int32_t>::max(), status::kContextLenOutOfRange, name);
  }
  void not_null(std::initializer_list<NamedBuffer> buffers) {
    for (const NamedBuffer& buffer : buffers) {
      refuse_if(buffer.pointer == RawCall::kNull && buffer.bytes > 0, status::kNullPointer, buffer.name);
    }
  }
  void stride(std::string_view name, std::int64_t row_stride, std::int64_t topk, std::int64_t rows) {
    refuse_if(rows >= 2 && (row_stride < topk || bytes_of(strided_span(rows, row_stride, topk)) > kMostBytes),
              status::kRowStride, name);
  }
  void disjoint(const NamedBuffer& output, std::initializer_list<NamedBuffer> others) {
    for (const NamedBuffer& other : others) {
      refuse_if(share_a_byte(output, other), status::kBufferOverlap, output.name);
    }
  }
  void room(std::string_view name, Wide capacity, Wide needed) {
    refuse_if(capacity < needed, status::kBufferTooSmall, name);
  }

  bool passed() const { return ruling_.status == status::kOk; }
  Ruling& ruling() { return ruling_; }

  Ruling done(std::initializer_list<NamedBuffer> reads, std::initializer_list<NamedBuffer> writes,
              bool launches = false) {
    if (passed()) {
      for (const NamedBuffer& buffer : reads) {
        ruling_.reads.push_back({buffer.pointer, static_cast<unsigned __int128>(buffer.bytes)});
      }
      for (const NamedBuffer& buffer : writes) {
        ruling_.writes.push_back({buffer.pointer, static_cast<unsigned __int128>(buffer.bytes)});
      }
      ruling_.launches = launches;
    }
    return ruling_;
  }

 private:
  Ruling ruling_;
};

// ---- The operations

Ruling witness_indices(const RawCall& call) {
  const std::int64_t topk = call.counts[kTopk];
  const std::int64_t rows = call.counts[kRows];
  const std::int64_t len = call.counts[kLen];
  const std::int64_t segments = call.counts[kSegments];
  Steps steps;
  steps.counts({{"learned_len", len}, {"topk", topk}, {"rows", rows}, {"num_segments", segments}});
  if (steps.passed()) {
    steps.rows_product("learned_len", len, topk, rows);
    steps.indices_segments(segments, rows);
  }
  const NamedBuffer learned{"learned", call.pointers[kLearned], bytes_of(Wide{rows} * topk)};
  const NamedBuffer lens{"context_lens", call.pointers[kLens], bytes_of(rows)};
  const NamedBuffer out{"witnesses", call.pointers[kOut], bytes_of(Wide{rows} * segments)};
  steps.not_null({learned, lens, out});
  steps.disjoint(out, {learned, lens});
  return steps.done({learned, lens}, {out});
}

Ruling apply(const RawCall& call) {
  const std::int64_t topk = call.counts[kTopk];
  const std::int64_t rows = call.counts[kRows];
  const std::int64_t len = call.counts[kLen];
  const std::int64_t segments = call.counts[kSegments];
  const std::int64_t keep = call.counts[kKeep];
  const std::int64_t replacements = call.counts[kReplacements];
  Steps steps;
  steps.counts({{"learned_len", len},
                {"topk", topk},
                {"rows", rows},
                {"learned_keep", keep},
                {"num_segments", segments},
                {"max_replacements", replacements}});
  if (steps.passed()) {
    steps.rows_product("learned_len", len, topk, rows);
    steps.merge_segments(segments);
    steps.keep(keep, topk);
  }
  const NamedBuffer learned{"learned", call.pointers[kLearned], bytes_of(Wide{rows} * topk)};
  const NamedBuffer lens{"context_lens", call.pointers[kLens], bytes_of(rows)};
  const NamedBuffer out{"out", call.pointers[kOut], learned.bytes};
  steps.not_null({learned, lens, out});
  if (out.pointer != learned.pointer) {
    steps.disjoint(out, {learned});
  }
  steps.disjoint(out, {lens});
  return steps.done({learned, lens}, {out});
}

Ruling scatter(const RawCall& call) {
  const std::int64_t topk = call.counts[kTopk];
  const std::int64_t rows = call.counts[kRows];
  const std::int64_t len = call.counts[kLen];
  const std::int64_t segments = call.counts[kSegments];
  Steps steps;
  if (segments == 0) {
    return steps.done({}, {});
  }
  steps.counts({{"topk_indices_len", len}, {"topk", topk}, {"rows", rows}, {"num_segments", segments}});
  if (steps.passed()) {
    steps.rows_product("topk_indices_len", len, topk, rows);
    steps.merge_segments(segments);
  }
  const NamedBuffer indices{"topk_indices", call.pointers[kLearned], bytes_of(Wide{rows} * topk)};
  const NamedBuffer lens{"context_lens", call.pointers[kLens], bytes_of(rows)};
  steps.not_null({indices, lens});
  steps.disjoint(indices, {lens});
  return steps.done({lens}, {indices});
}

Ruling scatter_strided(const RawCall& call) {
  const std::int64_t topk = call.counts[kTopk];
  const std::int64_t rows = call.counts[kRows];
  const std::int64_t segments = call.counts[kSegments];
  const std::int64_t stride = call.counts[kStride];
  Steps steps;
  if (segments == 0) {
    return steps.done({}, {});
  }
  steps.counts({{"row_stride", stride}, {"topk", topk}, {"rows", rows}, {"num_segments", segments}});
  if (steps.passed()) {
    steps.contiguous("topk", rows == 1 ? topk : 0);
    steps.contiguous("rows", rows);
    steps.merge_segments(segments);
  }
  const NamedBuffer indices{"topk_indices", call.pointers[kLearned],
                            steps.passed() ? bytes_of(strided_span(rows, stride, topk)) : 0};
  const NamedBuffer lens{"context_lens", call.pointers[kLens], bytes_of(rows)};
  // Whether rows exist decides over null; how far they reach is known once the stride is right.
  steps.not_null({{indices.name, indices.pointer, rows > 0 && topk > 0 ? 1 : 0}, lens});
  steps.stride("row_stride", stride, topk, rows);
  steps.disjoint(indices, {lens});
  return steps.done({lens}, {indices});
}

// ---- The length helpers and the gate

Ruling lens_from_windows(const RawCall& call) {
  const std::int64_t rows = call.counts[kRows];
  Steps steps;
  steps.counts({{"rows", rows}});
  steps.contiguous("rows", rows);
  const NamedBuffer starts{"window_starts", call.pointers[kLearned], bytes_of(rows)};
  const NamedBuffer ends{"window_ends", call.pointers[kLens], bytes_of(rows)};
  const NamedBuffer out{"context_lens", call.pointers[kOut], bytes_of(rows)};
  steps.not_null({starts, ends, out});
  steps.disjoint(out, {starts, ends});
  return steps.done({starts, ends}, {out});
}

Ruling lens_from_requests(const RawCall& call) {
  const std::int64_t requests = call.counts[kTopk];
  const std::int64_t next_n = call.counts[kRows];
  Steps steps;
  steps.counts({{"requests", requests}, {"next_n", next_n, 1}});
  const Wide rows = steps.passed() ? Wide{requests} * next_n : 0;
  steps.contiguous("requests", rows);
  const NamedBuffer in{"seq_lens", call.pointers[kLearned], bytes_of(requests)};
  const NamedBuffer out{"context_lens", call.pointers[kOut], bytes_of(rows)};
  steps.not_null({in, out});
  steps.disjoint(out, {in});
  return steps.done({in}, {out});
}

// One or more decimal digits of value 0 to 64.
bool is_segment_count(std::string_view text) {
  const bool digits = !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  text.remove_prefix(std::min(text.find_first_not_of('0'), text.size()));
  return digits && (text.size() < 2 || (text.size() == 2 && text <= "64"));
}

Ruling gate(const RawCall& call) {
  Steps steps;
  const NamedBuffer out{"num_segments", call.pointers[kLearned], 8};
  steps.not_null({out});
  steps.refuse_if(!is_segment_count(call.text), status::kEnvironment, "VLLM_SPARSE_MLA_TOPOLOGY_SEGMENTS");
  return steps.done({}, {out});
}

// ---- Nulls, masks and metrics

Ruling null_row(const RawCall& call) {
  const std::int64_t context_len = call.counts[kTopk];
  const std::int64_t budget = call.counts[kRows];
  const std::int64_t capacity = call.counts[kLen];
  Steps steps;
  steps.counts({{"context_len", context_len}, {"budget", budget}, {"capacity", capacity}});
  steps.length("context_len", context_len);
  const std::int64_t needed = std::min(context_len, budget);
  const NamedBuffer offsets{"offsets", call.pointers[kLearned], bytes_of(std::min(capacity, needed))};
  const NamedBuffer count{"count", call.pointers[kLens], 8};
  steps.not_null({offsets, count});
  steps.disjoint(offsets, {count});
  if (steps.passed() && capacity < needed) {
    steps.ruling().count = needed;
  }
  steps.room("capacity", capacity, needed);
  return steps.done({}, {offsets, count});
}

Ruling mask(const RawCall& call, std::string_view parameter) {
  const std::int64_t seq = call.counts[kTopk];
  const std::int64_t mask_len = call.counts[kLen];
  Steps steps;
  steps.counts({{"seq", seq}, {parameter, call.counts[kRows]}, {"mask_len", mask_len}});
  steps.length("seq", seq);
  const Wide needed = Wide{seq} * seq;
  const NamedBuffer out{"mask", call.pointers[kLearned], needed};
  steps.not_null({{out.name, out.pointer, mask_len >= needed ? needed : 0}});
  steps.room("mask_len", mask_len, needed);
  return steps.done({}, {out});
}

Ruling coverage(const RawCall& call) {
  const std::int64_t candidates_len = call.counts[kLen];
  const std::int64_t context_len = call.counts[kTopk];
  Steps steps;
  steps.counts(
      {{"candidates_len", candidates_len}, {"context_len", context_len}, {"num_segments", call.counts[kSegments]}});
  steps.contiguous("candidates_len", candidates_len);
  steps.length("context_len", context_len);
  const NamedBuffer candidates{"candidates", call.pointers[kLearned], bytes_of(candidates_len)};
  const NamedBuffer out{"coverage", call.pointers[kOut], 8};
  steps.not_null({candidates, out});
  steps.disjoint(out, {candidates});
  return steps.done({candidates}, {out});
}

Ruling recall(const RawCall& call) {
  const std::int64_t candidates_len = call.counts[kLen];
  const std::int64_t context_len = call.counts[kTopk];
  Steps steps;
  steps.counts({{"candidates_len", candidates_len}, {"context_len", context_len}});
  steps.contiguous("candidates_len", candidates_len);
  steps.length("context_len", context_len);
  const NamedBuffer candidates{"candidates", call.pointers[kLearned], bytes_of(candidates_len)};
  const NamedBuffer attention{"attention", call.pointers[kLens], Wide{context_len} * 8};
  const NamedBuffer out{"recall", call.pointers[kOut], 8};
  steps.not_null({candidates, attention, out});
  steps.disjoint(out, {candidates, attention});
  return steps.done({candidates, attention}, {out});
}

Ruling set_backend(const RawCall& call, const std::vector<std::string_view>& names) {
  Steps steps;
  steps.refuse_if(!call.text.empty() && std::ranges::find(names, call.text) == names.end(), status::kUnknownBackend,
                  "name");
  return steps.done({}, {});
}

// ---- The CUDA library's host checks

struct CudaRows {
  std::string_view name;
  std::int32_t pointer;
  NamedCount len;
  NamedCount stride;

  Wide span(const RawCall& call) const { return strided_span(call.counts[kRows], stride.value, call.counts[kTopk]); }
  NamedBuffer buffer(const RawCall& call) const { return {name, pointer, bytes_of(span(call))}; }
};

bool has_lengths(const RawCall& call) {
  return call.pointers[kLengthsStruct] != RawCall::kNull;
}

void cuda_counts(Steps& steps, const RawCall& call, const CudaRows& input) {
  steps.counts({input.len, input.stride, {"topk", call.counts[kTopk]}});
  if (has_lengths(call)) {
    steps.counts({{"lengths->count", call.counts[kLengthsCount]},
                  {"lengths->stride", call.counts[kLengthsStride], 1},
                  {"lengths->next_n", call.counts[kLengthsNextN], 1}});
  }
}

// The learned rows, then the lengths. Where no buffer could hold the rows, one row and packed rows are at fault here,
// and the stride of others at the step of the stride.
void cuda_rows_mismatch(Steps& steps, const RawCall& call, const CudaRows& input) {
  const std::int64_t rows = call.counts[kRows];
  const Wide span = input.span(call);
  const bool too_large = bytes_of(span) > kMostBytes;
  const bool one_piece = rows == 1 || input.stride.value == call.counts[kTopk];
  steps.refuse_if(too_large ? one_piece : Wide{input.len.value} < span, status::kRowsMismatch, input.len.name);
  if (has_lengths(call) && rows > 0) {
    const std::int64_t next_n = call.counts[kLengthsNextN];
    const std::int64_t requests = rows / next_n + (rows % next_n != 0 ? 1 : 0);
    steps.refuse_if(call.counts[kLengthsCount] < requests, status::kRowsMismatch, "lengths->count");
    steps.refuse_if(bytes_of(strided_span(requests, call.counts[kLengthsStride], 1)) > kMostBytes,
                    status::kRowsMismatch, "lengths->stride");
  }
}

void cuda_lengths_not_null(Steps& steps, const RawCall& call) {
  const Wide used = call.counts[kRows] > 0 ? 1 : 0;
  steps.not_null({{"lengths", call.pointers[kLengthsStruct], used}, {"lengths->lens", call.pointers[kLens], used}});
}

struct CudaLengths {
  NamedBuffer lens;
  NamedBuffer starts;
};

// Of a call whose counts and lengths have passed.
CudaLengths cuda_lengths(const Steps& steps, const RawCall& call) {
  const std::int64_t rows = call.counts[kRows];
  if (!steps.passed() || !has_lengths(call) || rows == 0) {
    return {{"lengths->lens", RawCall::kNull, 0}, {"lengths->starts", RawCall::kNull, 0}};
  }
  const std::int64_t requests = (rows - 1) / call.counts[kLengthsNextN] + 1;
  const Wide bytes = bytes_of(strided_span(requests, call.counts[kLengthsStride], 1));
  return {{"lengths->lens", call.pointers[kLens], bytes},
          {"lengths->starts", call.pointers[kStarts], call.pointers[kStarts] == RawCall::kNull ? 0 : bytes}};
}

CudaRows learned_rows(const RawCall& call) {
  return {"learned", call.pointers[kLearned], {"learned_len", call.counts[kLen]}, {"row_stride", call.counts[kStride]}};
}

Wide used(const RawCall& call) {
  return call.counts[kRows] > 0 && call.counts[kTopk] > 0 ? 1 : 0;
}

Ruling cuda_witness_indices(const RawCall& call) {
  const std::int64_t rows = call.counts[kRows];
  const std::int64_t segments = call.counts[kSegments];
  const CudaRows input = learned_rows(call);
  Steps steps;
  cuda_counts(steps, call, input);
  steps.counts({{"rows", rows}, {"num_segments", segments}, {"witnesses_len", call.counts[kOutLen]}});
  if (steps.passed()) {
    cuda_rows_mismatch(steps, call, input);
    steps.indices_segments(segments, rows);
  }
  const NamedBuffer out{"witnesses", call.pointers[kOut], bytes_of(Wide{rows} * segments)};
  steps.not_null({{input.name, input.pointer, used(call)}});
  cuda_lengths_not_null(steps, call);
  steps.not_null({out});
  steps.stride("row_stride", input.stride.value, call.counts[kTopk], rows);
  const CudaLengths lengths = cuda_lengths(steps, call);
  if (steps.passed()) {
    steps.disjoint(out, {input.buffer(call), lengths.lens, lengths.starts});
    steps.room("witnesses_len", call.counts[kOutLen], Wide{rows} * segments);
  }
  return steps.done({}, {}, rows > 0);
}

Ruling cuda_apply(const RawCall& call) {
  const std::int64_t rows = call.counts[kRows];
  const std::int64_t topk = call.counts[kTopk];
  const CudaRows input = learned_rows(call);
  const CudaRows output{
      "out", call.pointers[kOut], {"out_len", call.counts[kOutLen]}, {"out_row_stride", call.counts[kOutStride]}};
  Steps steps;
  cuda_counts(steps, call, input);
  steps.counts({{"rows", rows},
                {"learned_keep", call.counts[kKeep]},
                {"num_segments", call.counts[kSegments]},
                {"max_replacements", call.counts[kReplacements]},
                output.len,
                output.stride});
  if (steps.passed()) {
    cuda_rows_mismatch(steps, call, input);
    steps.merge_segments(call.counts[kSegments]);
    steps.keep(call.counts[kKeep], topk);
  }
  steps.not_null({{input.name, input.pointer, used(call)}});
  cuda_lengths_not_null(steps, call);
  steps.not_null({{output.name, output.pointer, used(call)}});
  steps.stride("row_stride", input.stride.value, topk, rows);
  steps.stride("out_row_stride", output.stride.value, topk, rows);
  const bool in_place = input.pointer == output.pointer && (rows < 2 || input.stride.value == output.stride.value);
  const CudaLengths lengths = cuda_lengths(steps, call);
  if (steps.passed()) {
    if (!in_place) {
      steps.disjoint(output.buffer(call), {input.buffer(call)});
    }
    steps.disjoint(output.buffer(call), {lengths.lens, lengths.starts});
    steps.room("out_len", output.len.value, output.span(call));
  }
  const bool writes = !in_place || (call.counts[kReplacements] > 0 && topk > call.counts[kKeep]);
  return steps.done({}, {}, rows > 0 && topk > 0 && writes);
}

Ruling cuda_scatter(const RawCall& call) {
  const std::int64_t rows = call.counts[kRows];
  const CudaRows input{"topk_indices",
                       call.pointers[kLearned],
                       {"topk_indices_len", call.counts[kLen]},
                       {"row_stride", call.counts[kStride]}};
  Steps steps;
  if (call.counts[kSegments] == 0) {
    return steps.done({}, {});
  }
  cuda_counts(steps, call, input);
  steps.counts({{"rows", rows}, {"num_segments", call.counts[kSegments]}});
  if (steps.passed()) {
    cuda_rows_mismatch(steps, call, input);
    steps.merge_segments(call.counts[kSegments]);
  }
  steps.not_null({{input.name, input.pointer, used(call)}});
  cuda_lengths_not_null(steps, call);
  steps.stride("row_stride", input.stride.value, call.counts[kTopk], rows);
  const CudaLengths lengths = cuda_lengths(steps, call);
  if (steps.passed()) {
    steps.disjoint(input.buffer(call), {lengths.lens, lengths.starts});
  }
  return steps.done({}, {}, used(call) > 0);
}

}  // namespace

Ruling ruling_of(const RawCall& call, const std::vector<std::string_view>& backend_names) {
  switch (call.function) {
    case Function::kWitnessIndices:
      return witness_indices(call);
    case Function::kApply:
      return apply(call);
    case Function::kScatter:
      return scatter(call);
    case Function::kScatterStrided:
      return scatter_strided(call);
    case Function::kLensFromWindows:
      return lens_from_windows(call);
    case Function::kLensFromRequests:
      return lens_from_requests(call);
    case Function::kGate:
      return gate(call);
    case Function::kRandomNull:
    case Function::kLocalityNull:
      return null_row(call);
    case Function::kMaskRandom:
      return mask(call, "budget");
    case Function::kMaskLocal:
      return mask(call, "window");
    case Function::kCoverage:
      return coverage(call);
    case Function::kRecall:
      return recall(call);
    case Function::kSetBackend:
      return set_backend(call, backend_names);
    case Function::kCudaWitnessIndices:
      return cuda_witness_indices(call);
    case Function::kCudaApply:
      return cuda_apply(call);
    case Function::kCudaScatter:
      break;
  }
  return cuda_scatter(call);
}

}  // namespace kvwitness::fuzz
