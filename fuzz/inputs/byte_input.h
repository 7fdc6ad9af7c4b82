// Numbers out of a fuzzer's bytes, front to back. Bytes past the end read as 0.
#ifndef FUZZ_INPUTS_BYTE_INPUT_H
#define FUZZ_INPUTS_BYTE_INPUT_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace kvwitness::fuzz {

class ByteInput {
 public:
  explicit ByteInput(std::span<const std::uint8_t> bytes) : rest_(bytes) {}

  std::uint8_t u8() { return static_cast<std::uint8_t>(little_endian(1)); }
  std::uint16_t u16() { return static_cast<std::uint16_t>(little_endian(2)); }
  std::uint32_t u32() { return static_cast<std::uint32_t>(little_endian(4)); }
  std::int32_t i32() { return static_cast<std::int32_t>(u32()); }
  std::uint64_t u64() { return little_endian(8); }
  std::int64_t i64() { return static_cast<std::int64_t>(u64()); }
  std::span<const std::uint8_t> block(std::size_t size) {
    const auto taken = rest_.first(std::min(size, rest_.size()));
    rest_ = rest_.subspan(taken.size());
    return taken;
  }
  std::size_t left() const { return rest_.size(); }

 private:
  std::uint64_t little_endian(std::size_t count) {
    std::uint64_t value = 0;
    int shift = 0;
    for (const std::uint8_t byte : block(count)) {
      value |= std::uint64_t{byte} << shift;
      shift += 8;
    }
    return value;
  }
  std::span<const std::uint8_t> rest_;
};

}  // namespace kvwitness::fuzz

#endif  // FUZZ_INPUTS_BYTE_INPUT_H
