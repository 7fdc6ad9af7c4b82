// Found instead of CCCL's header of this name when a CUDA source is compiled for the executor: the operations under
// cuda::atomic and cuda::atomic_ref, each of which is a point at which the schedule may let another thread go on.
//
// Source of the meaning of each name: CCCL 3.0, the interface of cuda/std/__atomic/functions/host.h.
#ifndef KVWITNESS_SIMT_CUDA_ATOMIC_HOST
#define KVWITNESS_SIMT_CUDA_ATOMIC_HOST

#include <kvwitness/simt/device.h>

// clang-format off
#include <cuda/std/__atomic/order.h>
#include <cuda/std/__atomic/platform.h>
#include <cuda/std/__atomic/functions/common.h>
// clang-format on

#include <type_traits>

_LIBCUDACXX_BEGIN_NAMESPACE_STD

// Between the executor and one access; the host's own atomics are not its business.
class kvwitness_access {
 public:
  explicit kvwitness_access(const volatile void* address) : address_(const_cast<const void*>(address)) {
    if (kvwitness::simt::detail::current != nullptr) {
      kvwitness::simt::detail::before_atomic(address_);
    }
  }
  kvwitness_access(const kvwitness_access&) = delete;
  kvwitness_access& operator=(const kvwitness_access&) = delete;
  ~kvwitness_access() {
    if (kvwitness::simt::detail::current != nullptr) {
      kvwitness::simt::detail::after_atomic(address_);
    }
  }

 private:
  const void* address_;
};

// A fence is the executor's; ThreadSanitizer knows none.
inline void __atomic_thread_fence_host(memory_order order) {
  if (kvwitness::simt::detail::current != nullptr) {
    kvwitness::simt::detail::memory_fence();
  } else if (order != memory_order_relaxed) {
    __sync_synchronize();
  }
}
inline void __atomic_signal_fence_host(memory_order) {
  asm volatile("" ::: "memory");
}

template <class T, class U>
void __atomic_store_host(T* address, U value, memory_order order) {
  const kvwitness_access access(address);
  std::remove_cv_t<T> stored = static_cast<std::remove_cv_t<T>>(value);
  __atomic_store(address, &stored, __atomic_order_to_int(order));
}
template <class T>
std::remove_cv_t<T> __atomic_load_host(T* address, memory_order order) {
  const kvwitness_access access(address);
  std::remove_cv_t<T> result;
  __atomic_load(address, &result, __atomic_order_to_int(order));
  return result;
}
template <class T, class U>
std::remove_cv_t<T> __atomic_exchange_host(T* address, U value, memory_order order) {
  const kvwitness_access access(address);
  std::remove_cv_t<T> stored = static_cast<std::remove_cv_t<T>>(value), result;
  __atomic_exchange(address, &stored, &result, __atomic_order_to_int(order));
  return result;
}
template <class T, class U>
bool __atomic_compare_exchange_strong_host(T* address, U* expected, U value, memory_order success,
                                           memory_order failure) {
  const kvwitness_access access(address);
  std::remove_cv_t<T> stored = static_cast<std::remove_cv_t<T>>(value);
  return __atomic_compare_exchange(address, expected, &stored, false, __atomic_order_to_int(success),
                                   __atomic_failure_order_to_int(failure));
}
template <class T, class U>
bool __atomic_compare_exchange_weak_host(T* address, U* expected, U value, memory_order success, memory_order failure) {
  return __atomic_compare_exchange_strong_host(address, expected, value, success, failure);
}

// A read-modify-write, whatever the type.
template <class T, class Update>
std::remove_cv_t<T> kvwitness_fetch(T* address, memory_order order, Update update) {
  const kvwitness_access access(address);
  std::remove_cv_t<T> old;
  __atomic_load(address, &old, __ATOMIC_RELAXED);
  for (std::remove_cv_t<T> next = update(old);
       !__atomic_compare_exchange(address, &old, &next, false, __atomic_order_to_int(order), __ATOMIC_RELAXED);) {
    next = update(old);
  }
  return old;
}
template <class T, class D>
std::remove_cv_t<T> __atomic_fetch_add_host(T* address, D delta, memory_order order) {
  return kvwitness_fetch(address, order, [=](auto old) { return static_cast<decltype(old)>(old + delta); });
}
template <class T, class D>
std::remove_cv_t<T> __atomic_fetch_sub_host(T* address, D delta, memory_order order) {
  return kvwitness_fetch(address, order, [=](auto old) { return static_cast<decltype(old)>(old - delta); });
}
template <class T, class D>
std::remove_cv_t<T> __atomic_fetch_and_host(T* address, D value, memory_order order) {
  return kvwitness_fetch(address, order, [=](auto old) { return static_cast<decltype(old)>(old & value); });
}
template <class T, class D>
std::remove_cv_t<T> __atomic_fetch_or_host(T* address, D value, memory_order order) {
  return kvwitness_fetch(address, order, [=](auto old) { return static_cast<decltype(old)>(old | value); });
}
template <class T, class D>
std::remove_cv_t<T> __atomic_fetch_xor_host(T* address, D value, memory_order order) {
  return kvwitness_fetch(address, order, [=](auto old) { return static_cast<decltype(old)>(old ^ value); });
}
template <class T, class D>
std::remove_cv_t<T> __atomic_fetch_max_host(T* address, D value, memory_order order) {
  return kvwitness_fetch(address, order,
                         [=](auto old) { return old < value ? static_cast<decltype(old)>(value) : old; });
}
template <class T, class D>
std::remove_cv_t<T> __atomic_fetch_min_host(T* address, D value, memory_order order) {
  return kvwitness_fetch(address, order,
                         [=](auto old) { return value < old ? static_cast<decltype(old)>(value) : old; });
}

_LIBCUDACXX_END_NAMESPACE_STD

#endif  // KVWITNESS_SIMT_CUDA_ATOMIC_HOST
