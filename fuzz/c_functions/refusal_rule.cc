#include "fuzz/c_functions/refusal_rule.h"

#include <string>
#include <vector>

#include "properties/case/status.h"

namespace kvwitness::fuzz {
namespace {

namespace status = harness::status;

bool share_a_byte(const Buffer& a, const Buffer& b) {
  return a.bytes > 0 && b.bytes > 0 && a.pointer < b.pointer + b.bytes && b.pointer < a.pointer + a.bytes;
}

void check_counts(RefusalSteps& steps, const CFunction& function, const RawCall& call) {
  const auto check = [&](std::string_view name, std::int64_t value, std::int64_t minimum) {
    steps.refuse_if(value < minimum, status::kNegativeCount, name,
                    [&] { return Says{is(name, value, "; it must be at least ") + as_text(minimum)}; });
  };
  for (const Argument& argument : function.arguments) {
    if (is_count(argument.kind)) {
      check(argument.name, call.counts[argument.place], argument.minimum);
    } else if (argument.kind == ArgumentKind::kLengths && call.pointers[kLengthsStruct] != RawCall::kNull) {
      check("lengths->count", call.counts[kLengthsCount], 0);
      check("lengths->stride", call.counts[kLengthsStride], 1);
      check("lengths->next_n", call.counts[kLengthsNextN], 1);
    }
  }
}

}  // namespace

std::vector<Buffer> buffers_of(const CFunction& function, const RawCall& call) {
  std::vector<Buffer> buffers;
  for (const Argument& argument : function.arguments) {
    if (is_buffer(argument.kind)) {
      buffers.push_back({argument.name, call.pointers[argument.place],
                         bytes_of(argument.elements(call), argument.element_bytes), argument.element_bytes,
                         argument.kind});
    } else if (argument.kind == ArgumentKind::kLengths && call.counts[kRows] > 0) {
      if (call.pointers[kLengthsStruct] == RawCall::kNull) {
        buffers.push_back({"lengths", RawCall::kNull, 1, 1, argument.kind});
        continue;
      }
      const Wide bytes = bytes_of(strided_span(lengths_needed(call), call.counts[kLengthsStride], 1));
      buffers.push_back({"lengths->lens", call.pointers[kLens], bytes, 4, argument.kind});
      if (call.pointers[kStarts] != RawCall::kNull) {
        buffers.push_back({"lengths->starts", call.pointers[kStarts], bytes, 4, argument.kind});
      }
    }
  }
  return buffers;
}

namespace {

void check_strides(RefusalSteps& steps, const CFunction& function, const RawCall& call) {
  for (const Argument& argument : function.arguments) {
    if (argument.kind == ArgumentKind::kStride && call.counts[kRows] >= 2) {
      const std::int64_t stride = call.counts[argument.place];
      const Wide span = strided_span(call.counts[kRows], stride, call.counts[kTopk]);
      const bool is_short = stride < call.counts[kTopk];
      steps.refuse_if(is_short || RefusalSteps::too_large(span), status::kRowStride, argument.name, [&] {
        const std::string rows = as_text(call.counts[kRows]) + " rows";
        return is_short ? Says{is(argument.name, stride, "; with ") + rows, is("topk, which", call.counts[kTopk])}
                        : Says{is(argument.name, stride, "; ") + rows, "span more than PTRDIFF_MAX bytes"};
      });
    }
  }
}

void check_overlaps(RefusalSteps& steps, const std::vector<Buffer>& buffers, bool in_place) {
  for (const Buffer& output : buffers) {
    for (const Buffer& other : buffers) {
      const bool same_rows = in_place && other.kind == ArgumentKind::kInput && other.pointer == output.pointer &&
                             &other == &buffers.front();
      if (output.kind == ArgumentKind::kOutput && &other != &output && !same_rows) {
        steps.refuse_if(share_a_byte(output, other), status::kBufferOverlap, output.name, [&] {
          const auto size = [](const Buffer& buffer) {
            return std::string("(").append(as_text(buffer.bytes)).append(" bytes)");
          };
          return Says{std::string(output.name) + " at 0x",
                      size(output) + " shares bytes with " + std::string(other.name), size(other)};
        });
      }
    }
  }
}

void check_capacities(RefusalSteps& steps, const CFunction& function, const RawCall& call) {
  for (const Argument& argument : function.arguments) {
    if (argument.kind != ArgumentKind::kCapacity || !steps.passed()) {
      continue;
    }
    const Wide needed = argument.elements(call);
    const bool too_small = call.counts[argument.place] < needed;
    if (too_small && function.says_what_it_needs) {
      steps.ruling().count = static_cast<std::int64_t>(needed);
    }
    steps.refuse_if(too_small, status::kBufferTooSmall, argument.name, [&] {
      return Says{is(argument.name, call.counts[argument.place], ";"), "at least " + as_text(needed)};
    });
  }
}

}  // namespace

Ruling ruling_of(const RawCall& call, std::span<const std::string_view> backends) {
  const CFunction& function = function_of(call);
  RefusalSteps steps;
  if (function.is_off_at_no_segments && call.counts[kSegments] == 0) {
    return steps.ruling();
  }
  check_counts(steps, function, call);
  for (std::size_t i = 0; steps.passed() && i < function.limits.size(); ++i) {
    function.limits[i](steps, function, call);
  }
  if (!steps.passed()) {
    return steps.ruling();
  }
  const std::vector<Buffer> buffers = buffers_of(function, call);
  for (const Buffer& buffer : buffers) {
    steps.refuse_if(buffer.pointer == RawCall::kNull && buffer.bytes > 0, status::kNullPointer, buffer.name,
                    [&] { return Says{std::string(buffer.name) + " is null;", "neither reads nor writes it"}; });
  }
  check_strides(steps, function, call);
  check_overlaps(steps, buffers, function.in_place != nullptr && function.in_place(call));
  check_capacities(steps, function, call);
  if (function.text != nullptr) {
    function.text(steps, call, backends);
  }
  if (steps.passed() && function.is_cuda()) {
    steps.ruling().launches = function.launches(call);
  } else if (steps.passed()) {
    for (const Buffer& buffer : buffers) {
      auto& reached = buffer.kind == ArgumentKind::kOutput ? steps.ruling().writes : steps.ruling().reads;
      reached.push_back({buffer.pointer, static_cast<unsigned __int128>(buffer.bytes), buffer.element_bytes});
    }
  }
  return steps.ruling();
}

}  // namespace kvwitness::fuzz
