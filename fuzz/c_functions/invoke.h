// A call of a C function with the arguments that a raw call has for its parameters, by their types and their places.
#ifndef FUZZ_C_FUNCTIONS_INVOKE_H
#define FUZZ_C_FUNCTIONS_INVOKE_H

#include <kvwitness/kvwitness_cuda.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "fuzz/c_functions/c_function.h"
#include "fuzz/under_test.h"
#include "kernels/src/plan.h"

namespace kvwitness::fuzz {

class Invocation {
 public:
  Invocation(const CFunction& function, const RawCall& call, std::uint8_t* arena)
      : function_(function),
        call_(call),
        arena_(arena),
        lengths_{pointer<const std::int32_t*>(kLens), pointer<const std::int32_t*>(kStarts), call.counts[kLengthsCount],
                 call.counts[kLengthsStride], call.counts[kLengthsNextN]} {}

  template <typename... Parameters>
  CallResult make(kvw_status (*function)(Parameters...)) {
    return make(function, std::index_sequence_for<Parameters...>());
  }

 private:
  template <typename... Parameters, std::size_t... kIndex>
  CallResult make(kvw_status (*function)(Parameters...), std::index_sequence<kIndex...>) {
    const kvw_status status = function(value<Parameters>(kIndex)...);
    return {status, merge_.has_value() || indices_.few.has_value() || indices_.many.has_value()};
  }

  template <typename T>
  T value(std::size_t index) {
    if constexpr (std::is_same_v<T, kernels::MergePlan&>) {
      return merge_;
    } else if constexpr (std::is_same_v<T, kernels::IndicesPlan&>) {
      return indices_;
    } else if constexpr (std::is_same_v<T, const char*>) {
      return call_.text.empty() ? nullptr : call_.text.c_str();
    } else if constexpr (std::is_same_v<T, const kvw_cuda_lengths*>) {
      return call_.pointers[kLengthsStruct] == RawCall::kNull ? nullptr : &lengths_;
    } else if constexpr (std::is_pointer_v<T>) {
      return pointer<T>(function_.arguments.at(index).place);
    } else if constexpr (std::is_same_v<T, std::uint64_t>) {
      return call_.seed;
    } else {
      static_assert(std::is_same_v<T, std::int64_t>);
      return call_.counts[function_.arguments.at(index).place];
    }
  }
  template <typename T>
  T pointer(std::size_t place) const {
    const std::int32_t offset = call_.pointers[place];
    return offset == RawCall::kNull ? nullptr : reinterpret_cast<T>(arena_ + offset);
  }

  const CFunction& function_;
  const RawCall& call_;
  std::uint8_t* arena_;
  kvw_cuda_lengths lengths_;
  kernels::MergePlan merge_;
  kernels::IndicesPlan indices_;
};

// Of a CUDA function: its plan.
template <auto kFunction>
CallResult invoke(const CFunction& function, const RawCall& call, std::uint8_t* arena) {
  return Invocation(function, call, arena).make(under_test(kFunction));
}

}  // namespace kvwitness::fuzz

#endif  // FUZZ_C_FUNCTIONS_INVOKE_H
