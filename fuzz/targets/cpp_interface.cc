// The C++ interface (kvwitness/witness.h and the forms of backend.h) against the rule: what a call writes or returns, and
// its refusals with their numbers.
#include <kvwitness/backend.h>
#include <kvwitness/oracle.h>
#include <kvwitness/witness.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <expected>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "fuzz/c_functions/raw_call.h"
#include "fuzz/c_functions/refusal_steps.h"
#include "fuzz/finding.h"
#include "fuzz/mutators/raw_call_mutator.h"
#include "fuzz/target.h"
#include "fuzz/under_test.h"

namespace kvwitness::fuzz {
namespace {

using harness::Case;
using harness::Operation;
using Done = std::expected<void, Refusal>;
using Made = std::expected<std::vector<std::int32_t>, Refusal>;
using In = std::span<const std::int32_t>;
using Out = std::span<std::int32_t>;
using StridedIn = StridedRows<const std::int32_t>;
using StridedOut = StridedRows<std::int32_t>;
using Size = std::size_t;

// ---- A call: a raw call's counts and pointers, with a form of its operation

enum class Form : std::uint8_t { kInto, kInPlace, kReturns };  // scatter has only kInto

struct CppCall {
  explicit CppCall(const RawCall& raw)
      : operation(static_cast<Operation>(raw.function % 3)),
        has_strides((raw.seed & 1) != 0),
        names_backend((raw.seed & 2) != 0),
        backend_choice(raw.seed >> 4),
        topk(size(raw, kTopk)),
        rows(raw.pointers[kLens] == RawCall::kNull ? 0 : size(raw, kRows)),
        num_segments(size(raw, kSegments)),
        keep(size(raw, kKeep)),
        replacements(size(raw, kReplacements)),
        learned(raw.pointers[kLearned]),
        learned_len(learned == RawCall::kNull ? 0 : size(raw, kLen)),
        stride(has_strides ? size(raw, kStride) : topk),
        lens(raw.pointers[kLens]),
        out(raw.pointers[kOut]),
        out_len(out == RawCall::kNull ? 0 : size(raw, kOutLen)),
        out_stride(has_strides ? size(raw, kOutStride) : topk) {
    const auto choice = raw.seed >> 2 & 3;
    if (operation == Operation::kApply && choice == 1) {
      form = Form::kInPlace;
    } else if (operation != Operation::kScatter && choice == 2) {
      // These have neither strides nor a backend of their own.
      form = Form::kReturns;
      has_strides = names_backend = false;
      stride = out_stride = topk;
    }
    names_backend = names_backend && form != Form::kInPlace;
    if (form == Form::kInPlace || operation == Operation::kScatter) {
      out = learned;
      out_len = learned_len;
      out_stride = stride;
    }
  }

  Wide learned_span() const { return strided_span(Wide{rows}, Wide{stride}, Wide{topk}); }
  Wide out_needed() const {
    return operation == Operation::kWitnesses ? Wide{rows} * num_segments
                                              : strided_span(Wide{rows}, Wide{out_stride}, Wide{topk});
  }
  bool is_off() const { return operation == Operation::kScatter && num_segments == 0; }

  Operation operation;
  Form form = Form::kInto;
  bool has_strides;
  bool names_backend;
  std::uint64_t backend_choice;
  Size topk, rows, num_segments, keep, replacements;
  std::int32_t learned;  // as in RawCall::pointers; so are the other places
  Size learned_len, stride;
  std::int32_t lens;
  std::int32_t out;
  Size out_len, out_stride;

 private:
  static Size size(const RawCall& raw, CountIndex index) { return static_cast<Size>(raw.counts[index]); }
};

// ---- What it must come to

// The first that fails, in the order of the alternatives of Refusal.
std::optional<Refusal> refusal_of(const CppCall& call) {
  if (call.is_off()) {
    return std::nullopt;
  }
  const Wide span = call.learned_span();
  if (call.has_strides ? Wide{call.learned_len} < span || span > kMostElements
                       : Wide{call.learned_len} != Wide{call.rows} * call.topk) {
    return RowsMismatch{call.learned_len, call.topk, call.rows};
  }
  const bool is_merge = call.operation != Operation::kWitnesses;
  if (call.num_segments == 0 ||
      (is_merge ? call.num_segments > 64 : Wide{call.rows} * call.num_segments > kMostElements)) {
    return SegmentsOutOfRange{call.num_segments};
  }
  if (call.operation == Operation::kApply && call.keep > call.topk) {
    return LearnedKeepOutOfRange{call.keep, call.topk};
  }
  if (call.form == Form::kReturns) {
    return std::nullopt;
  }
  if (call.rows >= 2 && call.stride < call.topk) {
    return RowStrideOutOfRange{call.stride, call.topk};
  }
  if (call.operation == Operation::kApply && call.rows >= 2 && call.out_stride < call.topk) {
    return RowStrideOutOfRange{call.out_stride, call.topk};
  }
  const Wide needed = call.out_needed();
  if (Wide{call.out_len} < needed) {
    return BufferTooSmall{call.out_len, static_cast<Size>(std::min<Wide>(needed, std::numeric_limits<Size>::max()))};
  }
  const auto share = [&](std::int32_t other, Wide elements) {
    return needed > 0 && elements > 0 && call.out < other + bytes_of(elements) && other < call.out + bytes_of(needed);
  };
  const bool is_in_place = is_merge && call.out == call.learned && call.out_stride == call.stride;
  const bool has_one_row_in_place = is_merge && call.out == call.learned && call.rows < 2;
  const bool overlaps_rows = !is_in_place && !has_one_row_in_place && share(call.learned, span);
  return overlaps_rows || share(call.lens, Wide{call.rows}) ? std::optional<Refusal>(BufferOverlap()) : std::nullopt;
}

// ---- The arena

struct alignas(64) Arena {
  std::array<std::uint8_t, kArenaBytes> bytes{};

  std::int32_t* at(std::int32_t place) {
    return place == RawCall::kNull ? nullptr : reinterpret_cast<std::int32_t*>(bytes.data() + place);
  }
  std::int32_t read(std::int64_t place) const {
    std::int32_t value = 0;
    std::memcpy(&value, bytes.data() + place, sizeof value);
    return value;
  }
  void write(std::int64_t place, std::int32_t value) { std::memcpy(bytes.data() + place, &value, sizeof value); }
};

bool lies_in_arena(std::int32_t place, Wide elements) {
  return elements == 0 || (place % 4 == 0 && elements > 0 && place + bytes_of(elements) <= Wide{kArenaBytes});
}

// No span is larger than memory can be.
bool has_possible_spans(const CppCall& call) {
  const auto is_possible = [](Size elements) { return Wide{elements} <= kMostElements; };
  return is_possible(call.rows) && is_possible(call.learned_len) && is_possible(call.out_len);
}

// What is read or written lies in the arena.
bool can_be_made(const CppCall& call, bool is_refused) {
  constexpr Wide kMostReturned = 1 << 14;
  if (call.form == Form::kReturns && call.operation == Operation::kApply &&
      !lies_in_arena(call.learned, Wide{call.learned_len})) {
    return false;  // it copies the rows before it looks at them
  }
  if (is_refused || call.is_off()) {
    return true;
  }
  const bool is_returned = call.form == Form::kReturns;
  return lies_in_arena(call.learned, call.learned_span()) && lies_in_arena(call.lens, Wide{call.rows}) &&
         (is_returned ? call.out_needed() <= kMostReturned : lies_in_arena(call.out, call.out_needed()));
}

// The rule's answer to a legal call, packed.
std::vector<std::int32_t> answer_of(const CppCall& call, const Arena& arena) {
  Case value;
  value.operation = call.operation;
  value.topk = static_cast<std::int64_t>(call.topk);
  value.num_segments = static_cast<std::int64_t>(call.num_segments);
  if (call.operation == Operation::kApply) {
    value.learned_keep = static_cast<std::int64_t>(call.keep);
    value.max_replacements =
        static_cast<std::int64_t>(std::min<Size>(call.replacements, std::numeric_limits<std::int64_t>::max()));
  }
  for (Size row = 0; row < call.rows; ++row) {
    value.context_lens.push_back(arena.read(call.lens + 4 * static_cast<std::int64_t>(row)));
    for (Size slot = 0; slot < call.topk; ++slot) {
      value.learned.push_back(arena.read(call.learned + 4 * static_cast<std::int64_t>(row * call.stride + slot)));
    }
  }
  return expected_rows(value);
}

void write_answer(const CppCall& call, const std::vector<std::int32_t>& answer, Arena& arena) {
  const Size width = call.operation == Operation::kWitnesses ? call.num_segments : call.topk;
  const Size stride = call.operation == Operation::kWitnesses ? width : call.out_stride;
  for (Size element = 0; element < answer.size(); ++element) {
    const Size place = element / width * stride + element % width;
    arena.write(call.out + 4 * static_cast<std::int64_t>(place), answer[element]);
  }
}

// ---- The call itself

struct Result {
  std::optional<Refusal> refusal;
  std::vector<std::int32_t> returned;
};

Result result_of(const Done& done) {
  return {done ? std::nullopt : std::optional(done.error()), {}};
}
Result result_of(Made made) {
  return made ? Result{std::nullopt, *std::move(made)} : Result{made.error(), {}};
}

// The function under test of this type.
template <typename Function>
Function* chosen(Function* function) {
  return under_test(function);
}

class Caller {
 public:
  Caller(const CppCall& call, Arena& arena)
      : call_(call),
        learned_(arena.at(call.learned), call.learned_len),
        lens_(arena.at(call.lens), call.rows),
        out_(arena.at(call.out), call.out_len),
        backend_(backend_of(call.backend_choice)) {}

  Result make() const {
    switch (call_.operation) {
      case Operation::kWitnesses:
        return witnesses();
      case Operation::kApply:
        return apply_rows();
      default:
        return scatter_rows();
    }
  }

 private:
  static const Backend& backend_of(std::uint64_t choice) {
    const std::span<const Backend* const> all = backends();
    const Backend& chosen = *all[choice % all.size()];
    return chosen.runnable() ? chosen : *all.back();
  }

  Result witnesses() const {
    const Size topk = call_.topk, segments = call_.num_segments;
    if (call_.form == Form::kReturns) {
      return result_of(chosen<Made(In, Size, In, Size)>(witness_indices)(learned_, topk, lens_, segments));
    }
    if (call_.has_strides) {
      const StridedIn rows{learned_, call_.stride};
      return result_of(call_.names_backend ? chosen<Done(const Backend&, StridedIn, Size, In, Size, Out)>(
                                                 witness_indices_into)(backend_, rows, topk, lens_, segments, out_)
                                           : chosen<Done(StridedIn, Size, In, Size, Out)>(witness_indices_into)(
                                                 rows, topk, lens_, segments, out_));
    }
    return result_of(call_.names_backend ? chosen<Done(const Backend&, In, Size, In, Size, Out)>(witness_indices_into)(
                                               backend_, learned_, topk, lens_, segments, out_)
                                         : chosen<Done(In, Size, In, Size, Out)>(witness_indices_into)(
                                               learned_, topk, lens_, segments, out_));
  }

  Result apply_rows() const {
    const Size topk = call_.topk, keep = call_.keep, segments = call_.num_segments, most = call_.replacements;
    if (call_.form == Form::kReturns) {
      return result_of(
          chosen<Made(In, Size, In, Size, Size, Size)>(apply)(learned_, topk, lens_, keep, segments, most));
    }
    const StridedOut strided{learned_, call_.stride};
    if (call_.form == Form::kInPlace) {
      return result_of(call_.has_strides ? chosen<Done(StridedOut, Size, In, Size, Size, Size)>(apply_in_place)(
                                               strided, topk, lens_, keep, segments, most)
                                         : chosen<Done(Out, Size, In, Size, Size, Size)>(apply_in_place)(
                                               learned_, topk, lens_, keep, segments, most));
    }
    if (call_.has_strides) {
      const StridedIn rows{learned_, call_.stride};
      const StridedOut out{out_, call_.out_stride};
      return result_of(call_.names_backend
                           ? chosen<Done(const Backend&, StridedIn, Size, In, Size, Size, Size, StridedOut)>(
                                 apply_into)(backend_, rows, topk, lens_, keep, segments, most, out)
                           : chosen<Done(StridedIn, Size, In, Size, Size, Size, StridedOut)>(apply_into)(
                                 rows, topk, lens_, keep, segments, most, out));
    }
    return result_of(call_.names_backend ? chosen<Done(const Backend&, In, Size, In, Size, Size, Size, Out)>(
                                               apply_into)(backend_, learned_, topk, lens_, keep, segments, most, out_)
                                         : chosen<Done(In, Size, In, Size, Size, Size, Out)>(apply_into)(
                                               learned_, topk, lens_, keep, segments, most, out_));
  }

  Result scatter_rows() const {
    const Size topk = call_.topk, segments = call_.num_segments;
    if (call_.has_strides) {
      const StridedOut rows{learned_, call_.stride};
      return result_of(
          call_.names_backend
              ? chosen<Done(const Backend&, StridedOut, Size, In, Size)>(scatter)(backend_, rows, topk, lens_, segments)
              : chosen<Done(StridedOut, Size, In, Size)>(scatter)(rows, topk, lens_, segments));
    }
    return result_of(call_.names_backend ? chosen<Done(const Backend&, Out, Size, In, Size)>(scatter)(
                                               backend_, learned_, topk, lens_, segments)
                                         : chosen<Done(Out, Size, In, Size)>(scatter)(learned_, topk, lens_, segments));
  }

  const CppCall& call_;
  Out learned_;
  In lens_;
  Out out_;
  const Backend& backend_;
};

// ---- The judgement

std::string name_of(const CppCall& call) {
  constexpr std::array<std::string_view, 3> kForms = {"_into", "_in_place", ""};
  const std::string operation = call.operation == Operation::kWitnesses ? "witness_indices"
                                : call.operation == Operation::kApply   ? "apply"
                                                                        : "scatter";
  return operation +
         std::string(call.operation == Operation::kScatter ? "" : kForms[static_cast<std::size_t>(call.form)]) +
         (call.has_strides ? "_strided" : "") + (call.names_backend ? "_of_a_backend" : "");
}

std::string numbers_of(const CppCall& call) {
  return "topk " + std::to_string(call.topk) + ", rows " + std::to_string(call.rows) + ", learned " +
         std::to_string(call.learned_len) + " elements at byte " + std::to_string(call.learned) + ", stride " +
         std::to_string(call.stride) + ", S " + std::to_string(call.num_segments) + ", keep " +
         std::to_string(call.keep) + ", replacements " + std::to_string(call.replacements) + ", lengths at byte " +
         std::to_string(call.lens) + ", out " + std::to_string(call.out_len) + " elements at byte " +
         std::to_string(call.out) + ", its stride " + std::to_string(call.out_stride);
}

std::string said(const std::optional<Refusal>& refusal) {
  constexpr std::array<std::string_view, std::variant_size_v<Refusal>> kNames = {
      "RowsMismatch",   "SegmentsOutOfRange", "LearnedKeepOutOfRange", "RowStrideOutOfRange",
      "BufferTooSmall", "BufferOverlap",      "UnknownBackend"};
  return refusal ? std::string(kNames[refusal->index()]) : "success";
}

[[noreturn]] void broken(std::string_view invariant, const CppCall& call, const std::string& what) {
  report_finding({"cpp_interface", invariant, name_of(call), what + "; " + numbers_of(call)});
}

int judge_input(const std::uint8_t* data, std::size_t size) {
  const RawCall raw = decode_raw_call({data, size});
  const CppCall call(raw);
  if (!has_possible_spans(call)) {
    return -1;
  }
  const std::optional<Refusal> wanted = refusal_of(call);
  if (!can_be_made(call, wanted.has_value())) {
    return -1;
  }
  Arena arena;
  for (std::size_t i = 0; i < kArenaBytes && !raw.fill.empty(); ++i) {
    arena.bytes[i] = raw.fill[i % raw.fill.size()];
  }
  Arena expected = arena;
  std::vector<std::int32_t> answer;
  if (!wanted && !call.is_off()) {
    answer = answer_of(call, arena);
    if (call.form != Form::kReturns) {
      write_answer(call, answer, expected);
    }
  }
  const Result result = Caller(call, arena).make();
  if (result.refusal != wanted) {
    broken("refusal", call,
           said(result.refusal) + " instead of " + said(wanted) +
               (said(result.refusal) == said(wanted) ? ", with other numbers" : ""));
  }
  if (call.form == Form::kReturns && result.returned != answer) {
    broken("returned_rows", call, "the rows that it returned are not the rule's");
  }
  if (arena.bytes != expected.bytes) {
    const auto at = std::ranges::mismatch(arena.bytes, expected.bytes).in1 - arena.bytes.begin();
    broken(wanted ? "refused_writes_nothing" : "rows", call,
           "byte " + std::to_string(at) + " of the arena is not what the rule leaves there");
  }
  return 0;
}

}  // namespace

namespace targets {
extern const Target cpp_interface = {
    .name = "cpp_interface",
    .judges =
        "the C++ interface in all its forms, with any sizes and overlapping spans: the rule's rows, and a refusal with "
        "its numbers",
    .body = judge_input,
    .form = &kRawCallForm,
    .mutator = &kRawCallMutator,
    .test_runs = 30000,
    .finds =
        "cpp_mismatch_swapped cpp_65_segments cpp_keep_before_segments cpp_needs_one_less cpp_small_buffer "
        "cpp_overlap_of_4 cpp_in_place_refused cpp_spare_column cpp_short_result cpp_off_switch_checks "
        "cpp_whole_last_row cpp_budget_of_zero cpp_output_stride",
};
}  // namespace targets

}  // namespace kvwitness::fuzz
