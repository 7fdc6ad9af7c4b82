// The table of C functions: their parameters in order, and what else a call of each needs (c_function.h).
#include <kvwitness/kvwitness.h>

#include <algorithm>
#include <iterator>
#include <limits>

#include "fuzz/c_functions/c_function.h"
#include "fuzz/c_functions/invoke.h"
#include "properties/case/status.h"

namespace kvwitness::fuzz {
namespace {

namespace status = harness::status;
using harness::Case;
using harness::Operation;

// ---- Kinds of arguments

Argument count(std::string_view name, CountIndex place, std::int64_t minimum = 0) {
  return {name, ArgumentKind::kCount, place, minimum};
}
Argument stride(std::string_view name, CountIndex place) {
  return {name, ArgumentKind::kStride, place};
}
Argument capacity(std::string_view name, CountIndex place, Wide (*needed)(const RawCall&)) {
  return {name, ArgumentKind::kCapacity, place, 0, needed};
}
Argument input(std::string_view name, PointerIndex place, Wide (*elements)(const RawCall&), std::int64_t bytes = 4) {
  return {name, ArgumentKind::kInput, place, 0, elements, bytes};
}
Argument output(std::string_view name, PointerIndex place, Wide (*elements)(const RawCall&), std::int64_t bytes = 4) {
  return {name, ArgumentKind::kOutput, place, 0, elements, bytes};
}
Argument lengths() {
  return {.name = "lengths", .kind = ArgumentKind::kLengths};
}
Argument seed() {
  return {.name = "seed", .kind = ArgumentKind::kSeed};
}

// ---- How many elements a buffer has

Wide one(const RawCall&) {
  return 1;
}
Wide rows(const RawCall& call) {
  return call.counts[kRows];
}
Wide rows_by_topk(const RawCall& call) {
  return rows(call) * call.counts[kTopk];
}
Wide rows_by_segments(const RawCall& call) {
  return rows(call) * call.counts[kSegments];
}
Wide learned_span(const RawCall& call) {
  return strided_span(rows(call), call.counts[kStride], call.counts[kTopk]);
}
Wide out_span(const RawCall& call) {
  return strided_span(rows(call), call.counts[kOutStride], call.counts[kTopk]);
}
// kTopk and kRows as requests and next_n.
Wide requests(const RawCall& call) {
  return call.counts[kTopk];
}
// kTopk and kRows as a context length and a budget.
Wide drawn(const RawCall& call) {
  return std::min(call.counts[kTopk], call.counts[kRows]);
}
Wide drawn_that_fit(const RawCall& call) {
  return std::min<Wide>(call.counts[kLen], drawn(call));
}
// kTopk as the length of a sequence.
Wide mask_elements(const RawCall& call) {
  return Wide{call.counts[kTopk]} * call.counts[kTopk];
}
Wide mask_that_fits(const RawCall& call) {
  return call.counts[kLen] >= mask_elements(call) ? mask_elements(call) : 0;
}
Wide candidates(const RawCall& call) {
  return call.counts[kLen];
}
Wide context(const RawCall& call) {
  return call.counts[kTopk];
}

// ---- What counts must be to each other

// The parameter that holds the number of elements of the learned rows or of the candidates.
std::string_view len_name(const CFunction& function) {
  const auto is_len = [](const Argument& argument) {
    return argument.kind == ArgumentKind::kCount && argument.place == kLen;
  };
  return std::ranges::find_if(function.arguments, is_len)->name;
}
std::string topk_text(const RawCall& call) {
  return as_text(call.counts[kTopk]);
}
void rows_in_one_piece(RefusalSteps& steps, const CFunction&, const RawCall& call) {
  steps.contiguous("rows", rows(call));
}
void rows_product(RefusalSteps& steps, const CFunction& function, const RawCall& call) {
  const std::string_view len = len_name(function);
  steps.refuse_if(call.counts[kLen] != rows_by_topk(call), status::kRowsMismatch, len, [&] {
    return Says{is(len, call.counts[kLen], ";"), "rows is " + as_text(rows(call)) + " and topk " + topk_text(call)};
  });
  steps.contiguous(len, call.counts[kLen]);
  rows_in_one_piece(steps, function, call);
}
void one_row_in_one_piece(RefusalSteps& steps, const CFunction&, const RawCall& call) {
  steps.contiguous("topk", call.counts[kRows] == 1 ? call.counts[kTopk] : 0);
}
void requests_in_one_piece(RefusalSteps& steps, const CFunction&, const RawCall& call) {
  steps.refuse_if(RefusalSteps::too_large(rows_by_topk(call)), status::kRowsMismatch, "requests", [&] {
    return Says{is("requests", requests(call), " and next_n ") + as_text(rows(call)) + ";",
                "at most " + as_text(kMostElements) + " int32 elements"};
  });
}
void candidates_in_one_piece(RefusalSteps& steps, const CFunction&, const RawCall& call) {
  steps.contiguous("candidates_len", candidates(call));
}
void merge_segments(RefusalSteps& steps, const CFunction&, const RawCall& call) {
  const std::int64_t segments = call.counts[kSegments];
  steps.refuse_if(segments == 0 || segments > 64, status::kSegmentsOutOfRange, "num_segments",
                  [&] { return Says{is("num_segments", segments, ";"), "1 to 64"}; });
}
void indices_segments(RefusalSteps& steps, const CFunction&, const RawCall& call) {
  const std::int64_t segments = call.counts[kSegments];
  steps.refuse_if(segments == 0 || RefusalSteps::too_large(rows_by_segments(call)), status::kSegmentsOutOfRange,
                  "num_segments", [&] {
                    return Says{is("num_segments", segments, ";"),
                                segments == 0 ? "at least 1" : is("PTRDIFF_MAX bytes, and rows", rows(call))};
                  });
}
void learned_keep(RefusalSteps& steps, const CFunction&, const RawCall& call) {
  steps.refuse_if(call.counts[kKeep] > call.counts[kTopk], status::kLearnedKeepOutOfRange, "learned_keep", [&] {
    return Says{is("learned_keep", call.counts[kKeep], ";"), is("topk, which", call.counts[kTopk])};
  });
}
void context_len(RefusalSteps& steps, const CFunction&, const RawCall& call) {
  steps.length("context_len", call.counts[kTopk]);
}
void seq(RefusalSteps& steps, const CFunction&, const RawCall& call) {
  steps.length("seq", call.counts[kTopk]);
}
// Of the CUDA functions: the learned rows, then the lengths. Where no buffer could hold the rows, one row and packed
// rows are at fault here, and the stride of others at the step of the stride.
void cuda_rows(RefusalSteps& steps, const CFunction& function, const RawCall& call) {
  const Wide span = learned_span(call);
  const bool one_piece = call.counts[kRows] == 1 || call.counts[kStride] == call.counts[kTopk];
  const std::string_view len = len_name(function);
  steps.refuse_if(
      RefusalSteps::too_large(span) ? one_piece : call.counts[kLen] < span, status::kRowsMismatch, len, [&] {
        const Wide needed = std::min<Wide>(span, std::numeric_limits<std::size_t>::max());
        return Says{is(len, call.counts[kLen], "; ") + as_text(rows(call)) + " rows of topk " + topk_text(call),
                    "stride of " + as_text(call.counts[kStride]), "need " + as_text(needed) + " elements"};
      });
  if (call.pointers[kLengthsStruct] != RawCall::kNull && call.counts[kRows] > 0) {
    const std::int64_t needed = lengths_needed(call);
    steps.refuse_if(call.counts[kLengthsCount] < needed, status::kRowsMismatch, "lengths->count", [&] {
      return Says{is("lengths->count", call.counts[kLengthsCount], "; ") + as_text(rows(call)) + " rows at next_n " +
                      as_text(call.counts[kLengthsNextN]),
                  "need " + as_text(needed)};
    });
    const std::int64_t step = call.counts[kLengthsStride];
    steps.refuse_if(
        RefusalSteps::too_large(strided_span(needed, step, 1)), status::kRowsMismatch, "lengths->stride", [&] {
          return Says{is("lengths->stride", step, "; ") + as_text(needed) + " lengths", "more than PTRDIFF_MAX bytes"};
        });
  }
}

// ---- What a text must be

// One or more decimal digits of value 0 to 64.
bool is_segment_count(std::string_view text) {
  const bool digits = !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  text.remove_prefix(std::min(text.find_first_not_of('0'), text.size()));
  return digits && (text.size() < 2 || (text.size() == 2 && text <= "64"));
}

// A long text is cut in a message.
std::string quoted(std::string_view text) {
  return '"' + std::string(text.substr(0, 64)) + '"';
}

void segment_count(RefusalSteps& steps, const RawCall& call, std::span<const std::string_view>) {
  constexpr std::string_view kVariable = "VLLM_SPARSE_MLA_TOPOLOGY_SEGMENTS";
  steps.refuse_if(!is_segment_count(call.text), status::kEnvironment, kVariable, [&] {
    return Says{std::string(kVariable) + " is " + quoted(call.text) + ";", "decimal digits of value 0 to 64"};
  });
}
void backend(RefusalSteps& steps, const RawCall& call, std::span<const std::string_view> backends) {
  steps.refuse_if(!call.text.empty() && std::ranges::find(backends, call.text) == backends.end(),
                  status::kUnknownBackend, "name", [&] {
                    std::string usable = "; usable here:";
                    for (const std::string_view name : backends) {
                      usable.append(" ").append(name);
                    }
                    return Says{"name is " + quoted(call.text) + ", ", usable};
                  });
}

// ---- Conditions

bool has_slots(const RawCall& call) {
  return call.counts[kRows] > 0 && call.counts[kTopk] > 0;
}
bool out_is_learned(const RawCall& call) {
  return call.pointers[kOut] == call.pointers[kLearned];
}
bool out_is_learned_rows(const RawCall& call) {
  return out_is_learned(call) && (call.counts[kRows] < 2 || call.counts[kStride] == call.counts[kOutStride]);
}

template <Operation kOperation>
bool is_of(const Case& value) {
  return value.operation == kOperation;
}

// ---- The entries

std::vector<CFunction> operations() {
  return {
      {.name = "kvw_witness_indices",
       .arguments = {input("learned", kLearned, rows_by_topk), count("learned_len", kLen), count("topk", kTopk),
                     input("context_lens", kLens, rows), count("rows", kRows), count("num_segments", kSegments),
                     output("witnesses", kOut, rows_by_segments)},
       .call = invoke<kvw_witness_indices>,
       .limits = {rows_product, indices_segments},
       .takes = is_of<Operation::kWitnesses>},
      {.name = "kvw_apply",
       .arguments = {input("learned", kLearned, rows_by_topk), count("learned_len", kLen), count("topk", kTopk),
                     input("context_lens", kLens, rows), count("rows", kRows), count("learned_keep", kKeep),
                     count("num_segments", kSegments), count("max_replacements", kReplacements),
                     output("out", kOut, rows_by_topk)},
       .call = invoke<kvw_apply>,
       .limits = {rows_product, merge_segments, learned_keep},
       .in_place = out_is_learned,
       .takes = is_of<Operation::kApply>},
      {.name = "kvw_scatter",
       .arguments = {output("topk_indices", kLearned, rows_by_topk), count("topk_indices_len", kLen),
                     count("topk", kTopk), input("context_lens", kLens, rows), count("rows", kRows),
                     count("num_segments", kSegments)},
       .call = invoke<kvw_scatter>,
       .limits = {rows_product, merge_segments},
       .is_off_at_no_segments = true,
       .takes = [](const Case& value) { return value.operation == Operation::kScatter && !value.row_stride; }},
      {.name = "kvw_scatter_strided",
       .arguments = {output("topk_indices", kLearned, learned_span), stride("row_stride", kStride),
                     count("topk", kTopk), input("context_lens", kLens, rows), count("rows", kRows),
                     count("num_segments", kSegments)},
       .call = invoke<kvw_scatter_strided>,
       .limits = {one_row_in_one_piece, rows_in_one_piece, merge_segments},
       .is_off_at_no_segments = true,
       .takes = [](const Case& value) { return value.operation == Operation::kScatter && value.row_stride; }},
  };
}

std::vector<CFunction> lengths_and_gate() {
  return {
      {.name = "kvw_context_lens_from_windows",
       .arguments = {input("window_starts", kLearned, rows), input("window_ends", kLens, rows), count("rows", kRows),
                     output("context_lens", kOut, rows)},
       .call = invoke<kvw_context_lens_from_windows>,
       .limits = {rows_in_one_piece}},
      {.name = "kvw_context_lens_from_requests",
       .arguments = {input("seq_lens", kLearned, requests), count("requests", kTopk), count("next_n", kRows, 1),
                     output("context_lens", kOut, rows_by_topk)},
       .call = invoke<kvw_context_lens_from_requests>,
       .limits = {requests_in_one_piece},
       .own_counts = {{kTopk, 3}}},
      {.name = "kvw_segments_from_environment",
       .arguments = {output("num_segments", kLearned, one, 8)},
       .call = invoke<kvw_segments_from_environment>,
       .text = segment_count,
       .environment = "VLLM_SPARSE_MLA_TOPOLOGY_SEGMENTS"},
  };
}

std::vector<CFunction> nulls_and_metrics() {
  return {
      {.name = "kvw_random_null",
       .arguments = {count("context_len", kTopk), count("budget", kRows), seed(),
                     output("offsets", kLearned, drawn_that_fit), capacity("capacity", kLen, drawn),
                     output("count", kLens, one, 8)},
       .call = invoke<kvw_random_null>,
       .limits = {context_len},
       .says_what_it_needs = true},
      {.name = "kvw_locality_null",
       .arguments = {count("context_len", kTopk), count("budget", kRows), output("offsets", kLearned, drawn_that_fit),
                     capacity("capacity", kLen, drawn), output("count", kLens, one, 8)},
       .call = invoke<kvw_locality_null>,
       .limits = {context_len},
       .says_what_it_needs = true},
      {.name = "kvw_select_mask_random",
       .arguments = {count("seq", kTopk), count("budget", kRows), seed(), output("mask", kLearned, mask_that_fits, 1),
                     capacity("mask_len", kLen, mask_elements)},
       .call = invoke<kvw_select_mask_random>,
       .limits = {seq},
       .own_counts = {{kLen, 16}}},
      {.name = "kvw_select_mask_local",
       .arguments = {count("seq", kTopk), count("window", kRows), output("mask", kLearned, mask_that_fits, 1),
                     capacity("mask_len", kLen, mask_elements)},
       .call = invoke<kvw_select_mask_local>,
       .limits = {seq},
       .own_counts = {{kLen, 16}}},
      {.name = "kvw_segment_coverage",
       .arguments = {input("candidates", kLearned, candidates), count("candidates_len", kLen),
                     count("context_len", kTopk), count("num_segments", kSegments), output("coverage", kOut, one, 8)},
       .call = invoke<kvw_segment_coverage>,
       .limits = {candidates_in_one_piece, context_len},
       .is_affordable =
           [](const RawCall& call) { return std::min(call.counts[kTopk], call.counts[kSegments]) <= 1 << 20; }},
      {.name = "kvw_attention_mass_recall",
       .arguments = {input("candidates", kLearned, candidates), count("candidates_len", kLen),
                     input("attention", kLens, context, 8), count("context_len", kTopk),
                     output("recall", kOut, one, 8)},
       .call = invoke<kvw_attention_mass_recall>,
       .limits = {candidates_in_one_piece, context_len}},
      {.name = "kvw_set_backend",
       .arguments = {{.name = "name", .kind = ArgumentKind::kText}},
       .call = invoke<kvw_set_backend>,
       .text = backend,
       .plain_text = "scalar"},
  };
}

std::vector<CFunction> cuda_operations() {
  return {
      {.name = "kvw_cuda_witness_indices",
       .arguments = {input("learned", kLearned, learned_span), count("learned_len", kLen),
                     stride("row_stride", kStride), count("topk", kTopk), lengths(), count("rows", kRows),
                     count("num_segments", kSegments), output("witnesses", kOut, rows_by_segments),
                     capacity("witnesses_len", kOutLen, rows_by_segments)},
       .call = invoke<kernels::plan_witness_indices>,
       .limits = {cuda_rows, indices_segments},
       .launches = [](const RawCall& call) { return call.counts[kRows] > 0; },
       .takes = is_of<Operation::kWitnesses>},
      {.name = "kvw_cuda_apply",
       .arguments = {input("learned", kLearned, learned_span), count("learned_len", kLen),
                     stride("row_stride", kStride), count("topk", kTopk), lengths(), count("rows", kRows),
                     count("learned_keep", kKeep), count("num_segments", kSegments),
                     count("max_replacements", kReplacements), output("out", kOut, out_span),
                     capacity("out_len", kOutLen, out_span), stride("out_row_stride", kOutStride)},
       .call = invoke<kernels::plan_apply>,
       .limits = {cuda_rows, merge_segments, learned_keep},
       .in_place = out_is_learned_rows,
       .launches =
           [](const RawCall& call) {
             const bool replaces = call.counts[kReplacements] > 0 && call.counts[kTopk] > call.counts[kKeep];
             return has_slots(call) && (replaces || !out_is_learned_rows(call));
           },
       .takes = is_of<Operation::kApply>},
      {.name = "kvw_cuda_scatter",
       .arguments = {output("topk_indices", kLearned, learned_span), count("topk_indices_len", kLen),
                     stride("row_stride", kStride), count("topk", kTopk), lengths(), count("rows", kRows),
                     count("num_segments", kSegments)},
       .call = invoke<kernels::plan_scatter>,
       .limits = {cuda_rows, merge_segments},
       .launches = has_slots,
       .is_off_at_no_segments = true,
       .takes = is_of<Operation::kScatter>},
  };
}

}  // namespace

std::vector<std::size_t> CFunction::counts() const {
  std::vector<std::size_t> places;
  for (const Argument& argument : arguments) {
    if (is_count(argument.kind)) {
      places.push_back(argument.place);
    } else if (argument.kind == ArgumentKind::kLengths) {
      places.insert(places.end(), {kLengthsCount, kLengthsStride, kLengthsNextN});
    }
  }
  return places;
}

std::vector<std::size_t> CFunction::pointers() const {
  std::vector<std::size_t> places;
  for (const Argument& argument : arguments) {
    if (is_buffer(argument.kind)) {
      places.push_back(argument.place);
    } else if (argument.kind == ArgumentKind::kLengths) {
      places.insert(places.end(), {kLens, kStarts, kLengthsStruct});
    }
  }
  return places;
}

const std::vector<CFunction>& c_functions() {
  static const std::vector<CFunction> kFunctions = [] {
    std::vector<CFunction> all;
    for (auto part : {operations, lengths_and_gate, nulls_and_metrics, cuda_operations}) {
      std::ranges::move(part(), std::back_inserter(all));
    }
    return all;
  }();
  return kFunctions;
}

const CFunction& function_of(const RawCall& call) {
  return c_functions().at(call.function);
}

std::uint8_t function_number(std::string_view name) {
  const auto found = std::ranges::find(c_functions(), name, &CFunction::name);
  return static_cast<std::uint8_t>(found - c_functions().begin());
}

}  // namespace kvwitness::fuzz
