// A CPU executor of CUDA's execution model: runs a kernel of the CUDA subset in <kvwitness/simt/device.h>
// thread by thread, under a schedule that is a number, and reports what a GPU would let pass in silence.
// kernels/simt/README.md states the model and its limits.
//
//     __global__ void add_one(int* values, int count) { ... }
//
//     kvwitness::simt::GlobalBuffer<int> values(count);
//     kvwitness::simt::Config config;
//     config.grid = 4;
//     config.block = 128;
//     config.schedule = kvwitness::simt::random_schedule(7);
//     const kvwitness::simt::Report report = kvwitness::simt::launch(config, add_one, values.data(), count);
//     if (!report.ok()) std::fputs(report.to_string().c_str(), stderr);
//
// C++17. Launches may come from any thread of the process; they take turns.
#ifndef KVWITNESS_SIMT_H
#define KVWITNESS_SIMT_H

#include <kvwitness/simt/device.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace kvwitness::simt {

// A schedule decides the order of the blocks, which thread runs next at each yield point (barriers,
// collectives, fences, atomics, exits), and the bytes that shared memory holds at the start of a block. The
// same number gives the same run.
//
// - in_order: blocks and threads by ascending index.
// - random_schedule(n): each choice uniform among the threads that can run.
// - pct_schedule(n): probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi, Nagarakatte: "A
//   Randomized Scheduler with Probabilistic Guarantees of Finding Bugs", ASPLOS 2010). The thread of the
//   highest random priority runs, and up to two priorities change on the way. That finds an ordering bug of
//   depth d among t threads and k steps with a probability of at least 1 / (t * k^(d-1)), d being 1 to 3
//   and k a power of two that the number draws as well.
inline constexpr std::uint64_t in_order = 0;
constexpr std::uint64_t random_schedule(std::uint64_t n) noexcept {
  return 2 * n + 1;
}
constexpr std::uint64_t pct_schedule(std::uint64_t n) noexcept {
  return 2 * n + 2;
}

// How a kernel is launched. grid and block are counts of blocks and of threads, in up to three dimensions
// (at most 1,024 threads a block).
struct Config {
  dim3 grid = 1;
  dim3 block = 1;
  std::size_t dynamic_shared_bytes = 0;
  // A launch with more than this is refused. CUDA's cudaFuncSetAttribute(kernel,
  // cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) opts in to more than 48 KiB, up to what the GPU has.
  std::size_t max_dynamic_shared_bytes = std::size_t{48} * 1024;
  std::uint64_t schedule = in_order;
  // Below kStreams. Launches on different streams are not ordered, nor is what the caller does after one on another
  // stream than 0, until synchronize() or order_after(); the legacy default stream 0 is ordered with all of them. Only
  // ThreadSanitizer sees the difference: a launch runs when it is called.
  unsigned stream = 0;
};
inline constexpr unsigned kStreams = 16;

struct Fault {
  enum class Kind {
    // The configuration is impossible: an empty or too large block, a grid that is no grid.
    kBadLaunch,
    // No thread of a block can go on, in none of the particular ways below.
    kDeadlock,
    // Part of a block waits at a block barrier that the rest has not reached: it exited, or waits
    // elsewhere.
    kDivergence,
    // A lane that a mask names exited or waits elsewhere and never arrives.
    kMissingLane,
    // Lanes of a warp wait for each other with different masks or operations, or a caller is not in its own
    // mask.
    kMaskMismatch,
    // An access to the memory beside a GlobalBuffer or beside the dynamic shared memory.
    kOutOfBounds,
    // An access of a vector type at an address that is not a multiple of its size, or an invalid address.
    kMisaligned,
    // A thread's local variables outgrew its stack.
    kStackOverflow,
    // Threads poll memory for ever and nothing else happens.
    kNoProgress,
    // The kernel called __trap.
    kTrap,
    // A read of memory that nobody wrote decides something (built with SANITIZER memory).
    kUninitialised,
  };
  Kind kind;
  uint3 block_index;
  // One or more lines: what was expected, and for each thread concerned where it waits (file:line).
  std::string message;
};

const char* to_string(Fault::Kind kind) noexcept;

struct Report {
  std::vector<Fault> faults;  // of the first block that had one; the launch ends there
  std::uint64_t races = 0;    // what ThreadSanitizer reported during the launch, where it is present
  std::uint64_t schedule = in_order;
  std::uint64_t blocks_run = 0;
  std::uint64_t switches = 0;  // from one thread to another

  bool ok() const noexcept { return faults.empty() && races == 0; }
  // The faults and the schedule that replays them, as text for a person. Empty when ok.
  std::string to_string() const;
};

// Which sanitizer the program runs under, found at run time.
enum class Sanitizer { kNone, kAddress, kThread, kMemory };
Sanitizer active_sanitizer() noexcept;

namespace detail {

// A kernel with its arguments, as the executor calls it: once for each thread.
struct Grid {
  Config config;
  void (*body)(const void* context);  // null where the kernel is
  const void* context;
  std::size_t context_bytes;
  const void* kernel;  // null where its address is not known
};

Report run(const Grid& grid);
Report run_overlapped(const Grid& producer, const Grid& consumer);

// Filled with the poison of the schedule that run_schedules() tries.
void* allocate_global(std::size_t bytes, std::size_t alignment, std::size_t offset);
void* allocate_rows(std::size_t rows, std::size_t row_bytes, std::size_t* pitch_bytes);
void release_global(void* memory) noexcept;
bool intact_global(const void* memory) noexcept;

}  // namespace detail

// A kernel, its configuration and a copy of its arguments, to be launched once or more.
template <class... Parameters>
class Launch {
 public:
  template <class... Arguments>
  Launch(const Config& config, void (*kernel)(Parameters...), Arguments&&... arguments)
      : config_(config),
        call_{kernel, std::tuple<std::decay_t<Parameters>...>(std::forward<Arguments>(arguments)...)} {}

  // Valid while this object lives.
  detail::Grid grid() const noexcept {
    return {config_, call_.kernel == nullptr ? nullptr : run_call, &call_, sizeof(call_),
            reinterpret_cast<const void*>(call_.kernel)};
  }

 private:
  struct Call {
    void (*kernel)(Parameters...);
    std::tuple<std::decay_t<Parameters>...> arguments;
    void run() const { call(std::index_sequence_for<Parameters...>{}); }
    template <std::size_t... kIndices>
    void call(std::index_sequence<kIndices...>) const {
      kernel(std::get<kIndices>(arguments)...);
    }
  };
  static void run_call(const void* context) { static_cast<const Call*>(context)->run(); }

  Config config_;
  Call call_;
};

template <class... Parameters, class... Arguments>
Launch<Parameters...> prepare(const Config& config, void (*kernel)(Parameters...), Arguments&&... arguments) {
  return Launch<Parameters...>(config, kernel, std::forward<Arguments>(arguments)...);
}

// Runs every thread of the grid to its end, or to the first fault. What the caller wrote before is visible
// to every thread, and what the threads wrote is visible to the caller; between two blocks there is no
// order.
template <class... Parameters, class... Arguments>
Report launch(const Config& config, void (*kernel)(Parameters...), Arguments&&... arguments) {
  return detail::run(prepare(config, kernel, std::forward<Arguments>(arguments)...).grid());
}

template <class NotAKernel, class... Arguments>
Report launch(const Config&, const NotAKernel&, Arguments&&...) {
  static_assert(detail::never<NotAKernel>,
                "kvwitness simt: what is launched is no kernel, a function that returns void");
  return {};
}

// Programmatic dependent launch: the consumer's blocks may start before the producer's have ended, and the
// producer's writes are visible to a thread of the consumer only after its cudaGridDependencySynchronize().
// The producer's schedule counts.
template <class... Producer, class... Consumer>
Report launch_overlapped(const Launch<Producer...>& producer, const Launch<Consumer...>& consumer) {
  return detail::run_overlapped(producer.grid(), consumer.grid());
}

// The caller waits for what was launched on the stream (cudaStreamSynchronize), or on every stream
// (cudaDeviceSynchronize).
void synchronize(unsigned stream);
void synchronize();
// What is launched on `stream` from now on comes after what was launched on `other` so far: an event recorded there and
// waited for here.
void order_after(unsigned stream, unsigned other);

// Device memory with bounds: elements of T that end where an inaccessible page begins, so that the first
// access past the end is a fault at the access (but for less than alignment_bytes of padding, which is
// checked after each launch). Bytes before the start are checked after each launch, up to the inaccessible
// page there. Under AddressSanitizer every byte outside is poisoned.
template <class T>
class GlobalBuffer {
  static_assert(std::is_trivially_destructible_v<T> && std::is_trivially_default_constructible_v<T>,
                "device memory holds plain values");

 public:
  // Of `count` elements that nobody has written: what they hold differs between schedules and is zero now and then.
  explicit GlobalBuffer(std::size_t count)
      : data_(static_cast<T*>(detail::allocate_global(count * sizeof(T), 16, 0))), count_(count) {}
  // @param count            elements
  // @param value            what each holds
  // @param alignment_bytes  a power of two, at most 4,096
  // @param offset_bytes     how far past a multiple of the alignment the first element lies, so that any
  //                         misalignment can be had
  GlobalBuffer(std::size_t count, T value, std::size_t alignment_bytes = 16, std::size_t offset_bytes = 0)
      : data_(static_cast<T*>(detail::allocate_global(count * sizeof(T), alignment_bytes, offset_bytes))),
        count_(count) {
    for (std::size_t i = 0; i < count; ++i) {
      data_[i] = value;
    }
  }
  explicit GlobalBuffer(const std::vector<T>& values, std::size_t alignment_bytes = 16, std::size_t offset_bytes = 0)
      : GlobalBuffer(values.size(), T{}, alignment_bytes, offset_bytes) {
    for (std::size_t i = 0; i < count_; ++i) {
      data_[i] = values[i];
    }
  }
  GlobalBuffer(GlobalBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), count_(std::exchange(other.count_, 0)) {}
  GlobalBuffer& operator=(GlobalBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
    return *this;
  }
  GlobalBuffer(const GlobalBuffer&) = delete;
  GlobalBuffer& operator=(const GlobalBuffer&) = delete;
  ~GlobalBuffer() { detail::release_global(data_); }

  T* data() noexcept { return data_; }
  const T* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return count_; }
  T& operator[](std::size_t i) noexcept { return data_[i]; }
  const T& operator[](std::size_t i) const noexcept { return data_[i]; }
  T* begin() noexcept { return data_; }
  T* end() noexcept { return data_ + count_; }
  const T* begin() const noexcept { return data_; }
  const T* end() const noexcept { return data_ + count_; }
  std::vector<T> to_vector() const { return std::vector<T>(begin(), end()); }

  // Whether the bytes beside the buffer are as they were; a launch checks every buffer that lives and
  // reports the first that is not.
  bool intact() const noexcept { return detail::intact_global(data_); }

 private:
  T* data_;
  std::size_t count_;
};

// Rows of T, each of which ends where an inaccessible page begins, `pitch()` elements after the row before it: for
// kernels that take the distance of rows as a parameter. An access past a row is a fault at the access, and not a value
// of the next row; a write before one is found after the launch.
template <class T>
class GlobalRows {
  static_assert((sizeof(T) & (sizeof(T) - 1)) == 0 && sizeof(T) <= 4096, "rows lie a whole number of elements apart");

 public:
  GlobalRows(std::size_t rows, std::size_t width, T value) : rows_(rows), width_(width) {
    std::size_t pitch_bytes = 0;
    data_ = static_cast<T*>(detail::allocate_rows(rows, width * sizeof(T), &pitch_bytes));
    pitch_ = pitch_bytes / sizeof(T);
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t i = 0; i < width; ++i) {
        data_[row * pitch_ + i] = value;
      }
    }
  }
  GlobalRows(const GlobalRows&) = delete;
  GlobalRows& operator=(const GlobalRows&) = delete;
  ~GlobalRows() { detail::release_global(data_); }

  T* data() noexcept { return data_; }
  T* row(std::size_t index) noexcept { return data_ + index * pitch_; }
  std::size_t rows() const noexcept { return rows_; }
  std::size_t width() const noexcept { return width_; }
  std::size_t pitch() const noexcept { return pitch_; }

 private:
  T* data_;
  std::size_t rows_, width_, pitch_;
};

// The main() of a program that tries a kernel under many schedules. `PROGRAM NUMBER` runs that one schedule
// again, and `PROGRAM --schedules COUNT` as many.
//
// @param argc   that of main()
// @param argv   that of main()
// @param count  how many schedules: in_order, then random and PCT ones in turn
// @param body   runs the kernel under a schedule; any text but the empty one ends the tries and is printed
//               with the schedule's number
// @return 1 where `body` returned a text, otherwise 0
int run_schedules(int argc, char** argv, std::uint64_t count,
                  const std::function<std::string(std::uint64_t schedule)>& body);

}  // namespace kvwitness::simt

#endif  // KVWITNESS_SIMT_H
