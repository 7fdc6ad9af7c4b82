// The steps of the contract's checks, and what they come to.
#ifndef FUZZ_C_FUNCTIONS_REFUSAL_STEPS_H
#define FUZZ_C_FUNCTIONS_REFUSAL_STEPS_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "properties/case/status.h"

namespace kvwitness::fuzz {

// Wide enough for every product of two counts.
using Wide = __int128;

// A buffer of a call: from the arena's start, in bytes. Wider than the arena where the counts say so.
struct Reach {
  std::int32_t pointer;  // as in RawCall::pointers
  unsigned __int128 bytes;
  std::int64_t element_bytes;
};

// What a call must come to.
struct Ruling {
  std::int32_t status = 0;  // a number of status.h
  // Of a refusal: the argument at fault, and what its message says: it begins with the first, ends with the last, and has
  // the others between them, in this order.
  std::string_view argument;
  std::vector<std::string> says;
  std::optional<std::int64_t> count;  // what the null models write to *count although they refuse
  // Of a legal call: what it reads and what it writes.
  std::vector<Reach> reads;
  std::vector<Reach> writes;
  // Of a legal call of a CUDA function: whether something is launched.
  bool launches = false;
};

// No sum of two such products overflows; more than any buffer holds stays that.
constexpr Wide bytes_of(Wide elements, std::int64_t element_bytes = 4) {
  constexpr Wide kMost = Wide{1} << 100;
  return std::clamp(elements, -kMost, kMost) * element_bytes;
}

// Elements from the first row's start to the last row's last slot.
constexpr Wide strided_span(Wide rows, Wide stride, Wide topk) {
  constexpr Wide kMost = Wide{1} << 100;
  return rows == 0 || topk == 0 ? 0 : std::min(kMost, (rows - 1) * stride + topk);
}

using Says = std::vector<std::string>;

constexpr Wide kMostElements = std::numeric_limits<std::ptrdiff_t>::max() / 4;

inline std::string as_text(Wide number) {
  std::string digits;
  for (Wide rest = number < 0 ? -number : number; rest > 0 || digits.empty(); rest /= 10) {
    digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(rest % 10)));
  }
  return number < 0 ? std::string("-").append(digits) : digits;
}

// "topk is 7", and what follows it.
inline std::string is(std::string_view name, Wide value, std::string_view rest = "") {
  return std::string(name) + " is " + as_text(value) + std::string(rest);
}

// The checks in the order in which they are made: the first that fails decides.
class RefusalSteps {
 public:
  // says() gives the words of the message, and is asked only where the check decides.
  template <typename Says>
  void refuse_if(bool wrong, std::int32_t status, std::string_view argument, const Says& says) {
    if (passed() && wrong) {
      ruling_.status = status;
      ruling_.argument = argument;
      ruling_.says = says();
    }
  }

  // More bytes than a buffer can have.
  static constexpr bool too_large(Wide elements) {
    return bytes_of(elements) > std::numeric_limits<std::ptrdiff_t>::max();
  }
  void contiguous(std::string_view name, Wide elements) {
    refuse_if(too_large(elements), harness::status::kRowsMismatch, name, [&] {
      return Says{is(name, elements, " int32 elements;"), "PTRDIFF_MAX bytes, " + as_text(kMostElements) + " elements"};
    });
  }
  void length(std::string_view name, std::int64_t context_len) {
    refuse_if(context_len > std::numeric_limits<std::int32_t>::max(), harness::status::kContextLenOutOfRange, name,
              [&] { return Says{is(name, context_len, ";"), "at most 2147483647"}; });
  }

  bool passed() const { return ruling_.status == harness::status::kOk; }
  Ruling& ruling() { return ruling_; }

 private:
  Ruling ruling_;
};

}  // namespace kvwitness::fuzz

#endif  // FUZZ_C_FUNCTIONS_REFUSAL_STEPS_H
