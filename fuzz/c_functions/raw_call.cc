#include "fuzz/c_functions/raw_call.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "fuzz/c_functions/c_function.h"
#include "fuzz/inputs/byte_input.h"

namespace kvwitness::fuzz {
namespace {

// How a count is written: a base and a small difference, so that every limit of the contract is one byte away; else its
// eight bytes.
enum class Base : std::uint8_t {
  kZero,
  kInt32Max,
  kInt64Max,
  kInt64Min,
  kMostElements,    // int32 elements of PTRDIFF_MAX bytes
  kPowerOfTwo,      // 2^(the difference modulo 63)
  kProduct,         // topk * rows, wrapped: what a length should be
  kSegmentProduct,  // rows * segments, wrapped
  kWide,            // eight bytes, and no difference
  kCount,
};

// A pointer is written as the number of its word and, above that, its byte: most numbers are those of whole words.
constexpr int kWords = kArenaBytes / 8;

constexpr std::int64_t wrapped_sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
constexpr std::int64_t wrapped_product(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

std::int64_t base_value(Base base, const std::array<std::int64_t, kCountCount>& counts) {
  switch (base) {
    case Base::kInt32Max:
      return std::numeric_limits<std::int32_t>::max();
    case Base::kInt64Max:
      return std::numeric_limits<std::int64_t>::max();
    case Base::kInt64Min:
      return std::numeric_limits<std::int64_t>::min();
    case Base::kMostElements:
      return std::numeric_limits<std::int64_t>::max() / 4;
    case Base::kProduct:
      return wrapped_product(counts[kTopk], counts[kRows]);
    case Base::kSegmentProduct:
      return wrapped_product(counts[kRows], counts[kSegments]);
    default:
      return 0;
  }
}

// Counts are read in their own order, but the products need their factors first.
constexpr std::array<CountIndex, kCountCount> kReadingOrder = {
    kTopk,   kRows,      kSegments, kLen,          kKeep,          kReplacements,
    kStride, kOutStride, kOutLen,   kLengthsCount, kLengthsStride, kLengthsNextN,
};

std::int64_t read_count(ByteInput& in, const std::array<std::int64_t, kCountCount>& counts) {
  const auto base = static_cast<Base>(in.u8() % static_cast<std::uint8_t>(Base::kCount));
  if (base == Base::kWide) {
    return static_cast<std::int64_t>(in.u64());
  }
  const auto difference = static_cast<std::int16_t>(in.u16());
  if (base == Base::kPowerOfTwo) {
    return std::int64_t{1} << (static_cast<std::uint16_t>(difference) % 63);
  }
  return wrapped_sum(base_value(base, counts), difference);
}

void write_count(std::vector<std::uint8_t>& out, std::int64_t value,
                 const std::array<std::int64_t, kCountCount>& counts) {
  const auto put = [&](Base base, std::int64_t number, int bytes) {
    out.push_back(static_cast<std::uint8_t>(base));
    for (int i = 0; i < bytes; ++i) {
      out.push_back(static_cast<std::uint8_t>(number >> (8 * i) & 0xFF));
    }
  };
  for (const Base base : {Base::kZero, Base::kInt32Max, Base::kInt64Max, Base::kInt64Min, Base::kMostElements,
                          Base::kProduct, Base::kSegmentProduct}) {
    const std::int64_t difference = wrapped_sum(value, wrapped_product(-1, base_value(base, counts)));
    if (difference >= INT16_MIN && difference <= INT16_MAX) {
      put(base, difference, 2);
      return;
    }
  }
  if (std::has_single_bit(static_cast<std::uint64_t>(value))) {
    put(Base::kPowerOfTwo, std::countr_zero(static_cast<std::uint64_t>(value)), 2);
  } else {
    put(Base::kWide, value, 8);
  }
}

}  // namespace

RawCall decode_raw_call(std::span<const std::uint8_t> bytes) {
  ByteInput in(bytes);
  RawCall call;
  call.function = static_cast<std::uint8_t>(in.u8() % c_functions().size());
  for (const CountIndex index : kReadingOrder) {
    call.counts[index] = read_count(in, call.counts);
  }
  for (std::int32_t& pointer : call.pointers) {
    const std::uint16_t code = in.u16();
    pointer = code == 0 ? RawCall::kNull : (code - 1) % kWords * 8 + (code - 1) / kWords % 8;
  }
  call.seed = in.u64();
  const auto text = in.block(in.u8());
  call.text.assign(text.begin(), std::ranges::find(text, 0));
  const auto fill = in.block(in.left());
  call.fill.assign(fill.begin(), fill.end());
  return call;
}

Bytes encode_raw_call(const RawCall& call) {
  std::vector<std::uint8_t> out;
  out.push_back(call.function);
  std::array<std::int64_t, kCountCount> written{};
  for (const CountIndex index : kReadingOrder) {
    write_count(out, call.counts[index], written);
    written[index] = call.counts[index];
  }
  for (const std::int32_t pointer : call.pointers) {
    const int code = pointer == RawCall::kNull ? 0 : pointer % 8 * kWords + pointer / 8 + 1;
    out.push_back(static_cast<std::uint8_t>(code & 0xFF));
    out.push_back(static_cast<std::uint8_t>(code >> 8));
  }
  for (int i = 0; i < 8; ++i) {
    out.push_back(static_cast<std::uint8_t>(call.seed >> (8 * i)));
  }
  const std::string text = call.text.substr(0, 255);
  out.push_back(static_cast<std::uint8_t>(text.size()));
  out.insert(out.end(), text.begin(), text.end());
  out.insert(out.end(), call.fill.begin(), call.fill.end());
  return out;
}

std::int64_t lengths_needed(const RawCall& call) {
  const std::int64_t next_n = call.counts[kLengthsNextN];
  return call.counts[kRows] / next_n + (call.counts[kRows] % next_n != 0 ? 1 : 0);
}

}  // namespace kvwitness::fuzz
