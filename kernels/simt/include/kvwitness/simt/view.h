// An array by its first element and its length, for the parts of shared memory and the rows of buffers: on the executor an
// index past the end is a fault at the access; under nvcc it costs nothing and checks nothing.
#ifndef KVWITNESS_SIMT_VIEW_H
#define KVWITNESS_SIMT_VIEW_H

#if defined(__CUDACC__)
#define KVWITNESS_SIMT_VIEW_FUNCTION __host__ __device__ __forceinline__
#else
#include <kvwitness/simt/device.h>
#define KVWITNESS_SIMT_VIEW_FUNCTION __forceinline__
namespace kvwitness::simt::detail {
#if defined(__clang__)
[[clang::nomerge]]
#endif
[[noreturn]] void
outside_view(long long index, long long count);
}  // namespace kvwitness::simt::detail
#endif

namespace kvwitness::simt {

template <class T>
class View {
 public:
  KVWITNESS_SIMT_VIEW_FUNCTION View(T* data, long long count) noexcept : data_(data), count_(count) {}
  KVWITNESS_SIMT_VIEW_FUNCTION T& operator[](long long index) const {
#if !defined(__CUDACC__)
    if (index < 0 || index >= count_) {
      detail::outside_view(index, count_);
    }
#endif
    return data_[index];
  }
  KVWITNESS_SIMT_VIEW_FUNCTION T* data() const noexcept { return data_; }
  KVWITNESS_SIMT_VIEW_FUNCTION long long size() const noexcept { return count_; }

 private:
  T* data_;
  long long count_;
};

}  // namespace kvwitness::simt

#undef KVWITNESS_SIMT_VIEW_FUNCTION

#endif  // KVWITNESS_SIMT_VIEW_H
