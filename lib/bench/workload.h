// Rows to measure on.
#ifndef LIB_BENCH_WORKLOAD_H
#define LIB_BENCH_WORKLOAD_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace kvwitness::bench {

// Where the tokens of a row lie. The first three keep at least one segment empty, so no pass over them can stop early.
enum class Pattern {
  kOneSegment,  // all in one segment in the middle of the context
  kOneMissing,  // everywhere but in one segment
  kAlternate,   // in every other segment
  kSpread,      // everywhere
  kReal,        // rows of a real model, in score order
};
const char* name_of(Pattern pattern);

struct Shape {
  Pattern pattern;
  std::size_t rows;
  std::size_t topk;
  std::size_t num_segments;
  std::int32_t context_len;         // of the synthetic patterns; real rows have their own
  std::size_t misaligned_elements;  // elements from a 64-byte boundary to the first row
};

// A buffer of int32 that starts at a chosen place within a page, so that no two buffers of a measurement collide in the
// caches by chance.
class Buffer {
 public:
  Buffer(std::size_t elements, std::size_t elements_into_page)
      : storage_(elements + elements_into_page + kPageElements), first_(storage_.data() + elements_into_page) {
    const auto address = reinterpret_cast<std::uintptr_t>(storage_.data()) / sizeof(std::int32_t);
    first_ += (kPageElements - address % kPageElements) % kPageElements;
  }
  std::int32_t* data() const { return first_; }

 private:
  static constexpr std::size_t kPageElements = 4096 / sizeof(std::int32_t);
  std::vector<std::int32_t> storage_;
  std::int32_t* first_;
};

// A batch of rows and what is needed to undo a scatter on it.
class Workload {
 public:
  // `real` is used only by Pattern::kReal, from row `first_real_row` on, repeated as needed.
  struct RealRows {
    std::vector<std::vector<std::int32_t>> rows;
    std::vector<std::int32_t> context_lens;
  };
  Workload(const Shape& shape, const RealRows& real, std::size_t first_real_row);

  std::int32_t* rows() const { return buffer_.data(); }
  const std::vector<std::int32_t>& context_lens() const { return context_lens_; }
  std::size_t elements() const { return shape_.rows * shape_.topk; }
  const Shape& shape() const { return shape_; }

  // Puts back the slots that a scatter may have overwritten.
  void restore();

 private:
  Shape shape_;
  Buffer buffer_;
  std::vector<std::int32_t> context_lens_;
  std::vector<std::int32_t> tails_;
};

// The rows of one width with L > topk out of a case file, one JSON object a line. Throws std::runtime_error where there
// are none.
Workload::RealRows read_real_rows(const std::string& path, std::size_t topk);

}  // namespace kvwitness::bench

#endif  // LIB_BENCH_WORKLOAD_H
