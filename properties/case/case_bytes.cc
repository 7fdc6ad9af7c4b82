// The byte form of a Case, which fuzzers mutate.
//
// Little-endian; counts, flags and numbers lie at fixed places, so that a small edit is a small change. By the offset in
// bytes:
//
//      0  u8   version, 1; other versions are read as this one
//      1  u8   flags, see Flag; without kCountedFlag there are rows * topk learned tokens
//      2  u8   which of the five numbers take all eight bytes, see WideFlag; the others one
//      3  u8   base_offset, bits 0 to 3
//      4  u32  rows
//      8  u32  learned_count
//     12  u32  prior_call_count
//     16  i64  topk, num_segments, learned_keep, max_replacements, row_stride
//     56  i32  context_lens[rows], learned[]
//              for each prior call: its length (u32) and so many bytes in this form, without prior calls
//              padding
//
// Bytes past the end read as 0. What a decoded case holds and what its call touches is bounded by a small constant plus
// a multiple of the number of bytes: counts beyond that are reduced, and encode appends padding where a small case asks
// for many witnesses.
#include <kvwitness/case.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace kvwitness::harness {
namespace {

constexpr std::uint8_t kVersion = 1;

// The operation is taken modulo 3.
enum Flag : unsigned { kOperationMask = 3, kFlatFlag = 4, kInPlaceFlag = 8, kStrideFlag = 16, kCountedFlag = 32 };
enum WideFlag : unsigned { kWideTopk = 1, kWideSegments = 2, kWideKeep = 4, kWideReplacements = 8, kWideStride = 16 };

// What a case of so many bytes may have. A row takes four bytes when it is encoded, and so does a token.
constexpr std::int64_t most_rows(std::size_t bytes) {
  return 16 + static_cast<std::int64_t>(bytes) / 4;
}
constexpr std::int64_t most_tokens(std::size_t bytes) {
  return 64 + static_cast<std::int64_t>(bytes);
}
constexpr std::int64_t kTouchedPerByte = 64;
constexpr std::int64_t most_touched(std::size_t bytes) {
  return 1024 + kTouchedPerByte * static_cast<std::int64_t>(bytes);
}

class ByteWriter {
 public:
  void u8(unsigned value) { bytes_.push_back(static_cast<std::uint8_t>(value)); }
  void u32(std::uint32_t value) { little_endian(value, 4); }
  void i32(std::int32_t value) { u32(static_cast<std::uint32_t>(value)); }
  void i64(std::int64_t value) { little_endian(static_cast<std::uint64_t>(value), 8); }
  void append(std::span<const std::uint8_t> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  void pad_to(std::size_t size) { bytes_.resize(std::max(size, bytes_.size()), 0); }
  std::vector<std::uint8_t> take() { return std::move(bytes_); }

 private:
  void little_endian(std::uint64_t value, int count) {
    for (int i = 0; i < count; ++i) {
      u8(static_cast<unsigned>(value >> (8 * i) & 0xFF));
    }
  }
  std::vector<std::uint8_t> bytes_;
};

class ByteReader {
 public:
  explicit ByteReader(std::span<const std::uint8_t> bytes) : rest_(bytes) {}
  bool empty() const { return rest_.empty(); }
  unsigned u8() { return static_cast<unsigned>(little_endian(1)); }
  std::uint32_t u32() { return static_cast<std::uint32_t>(little_endian(4)); }
  std::int32_t i32() { return static_cast<std::int32_t>(u32()); }
  std::int64_t i64(bool wide) {
    const std::uint64_t value = little_endian(8);
    return static_cast<std::int64_t>(wide ? value : value & 0xFF);
  }
  std::span<const std::uint8_t> block(std::size_t size) {
    const auto block = rest_.first(std::min(size, rest_.size()));
    rest_ = rest_.subspan(block.size());
    return block;
  }

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

// ---- Encoding

bool has_shape(const Case& value) {
  return static_cast<__int128>(value.rows()) * value.topk == static_cast<__int128>(value.learned.size());
}

unsigned flags_of(const Case& value) {
  unsigned flags = static_cast<unsigned>(value.operation);
  flags |= value.written_form() == Form::kFlat ? kFlatFlag : 0u;
  flags |= value.in_place ? kInPlaceFlag : 0u;
  flags |= value.row_stride ? kStrideFlag : 0u;
  flags |= has_shape(value) ? 0u : kCountedFlag;
  return flags;
}

// The five numbers in the order of the layout.
std::array<std::int64_t, 5> numbers_of(const Case& value) {
  return {value.topk, value.num_segments, value.learned_keep, value.max_replacements, value.row_stride.value_or(0)};
}

std::vector<std::uint8_t> encode_one(const Case& value, std::span<const Case> prior_calls) {
  ByteWriter out;
  out.u8(kVersion);
  out.u8(flags_of(value));
  const std::array<std::int64_t, 5> numbers = numbers_of(value);
  unsigned wide = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    wide |= numbers[i] < 0 || numbers[i] > 0xFF ? 1u << i : 0u;
  }
  out.u8(wide);
  out.u8(static_cast<unsigned>(value.base_offset));
  out.u32(static_cast<std::uint32_t>(value.context_lens.size()));
  out.u32(static_cast<std::uint32_t>(value.learned.size()));
  out.u32(static_cast<std::uint32_t>(prior_calls.size()));
  std::ranges::for_each(numbers, [&](std::int64_t number) { out.i64(number); });
  std::ranges::for_each(value.context_lens, [&](std::int32_t length) { out.i32(length); });
  std::ranges::for_each(value.learned, [&](std::int32_t token) { out.i32(token); });
  for (const Case& call : prior_calls) {
    const std::vector<std::uint8_t> bytes = encode_one(call, {});
    out.u32(static_cast<std::uint32_t>(bytes.size()));
    out.append(bytes);
  }
  out.pad_to(static_cast<std::size_t>(extent_of(value).touched / kTouchedPerByte));
  return out.take();
}

// ---- Decoding

// A legal call of so few bytes touches no more than it pays for, and its rows span no more than a case may.
void reduce_extent(Case& value, std::size_t bytes) {
  if (extent_of(value).touched > most_touched(bytes)) {  // only of witnesses: learned is bounded already
    value.num_segments = 1 + value.num_segments % (most_touched(bytes) / value.rows());
  }
  if (extent_of(value).spanned > kMaxSpannedElements) {
    const std::int64_t spare = (kMaxSpannedElements - static_cast<std::int64_t>(value.learned.size())) / value.rows();
    value.row_stride = value.topk + (*value.row_stride - value.topk) % (spare + 1);
  }
}

// How many learned tokens follow; reduces topk where rows * topk are more than the bytes pay for.
std::int64_t learned_count_of(Case& value, bool counted, std::uint32_t stored, std::size_t bytes) {
  const std::int64_t most = most_tokens(bytes);
  if (counted || value.topk < 0 || value.rows() == 0) {
    return counted ? std::min<std::int64_t>(stored, most) : 0;
  }
  if (value.topk > most / value.rows()) {
    value.topk %= most / value.rows() + 1;
  }
  return value.rows() * value.topk;
}

Case decode_one(std::span<const std::uint8_t> bytes, bool with_prior_calls) {
  ByteReader in(bytes);
  in.u8();  // the version
  const unsigned flags = in.u8();
  const unsigned wide = in.u8();
  Case value;
  value.operation = static_cast<Operation>((flags & kOperationMask) % 3);
  const bool apply = value.operation == Operation::kApply;
  value.in_place = apply && (flags & kInPlaceFlag) != 0;
  value.base_offset = static_cast<std::int32_t>(in.u8() & 15);
  const std::int64_t rows = std::min<std::int64_t>(in.u32(), most_rows(bytes.size()));
  const std::uint32_t learned_count = in.u32();
  const std::uint32_t prior_call_count = in.u32();
  value.topk = in.i64((wide & kWideTopk) != 0);
  value.num_segments = in.i64((wide & kWideSegments) != 0);
  const std::int64_t learned_keep = in.i64((wide & kWideKeep) != 0);
  const std::int64_t max_replacements = in.i64((wide & kWideReplacements) != 0);
  const std::int64_t row_stride = in.i64((wide & kWideStride) != 0);
  value.learned_keep = apply ? learned_keep : 0;
  value.max_replacements = apply ? max_replacements : 0;
  if ((flags & kStrideFlag) != 0) {
    value.row_stride = row_stride;
  }
  value.context_lens.resize(static_cast<std::size_t>(rows));
  std::ranges::generate(value.context_lens, [&] { return in.i32(); });
  value.learned.resize(
      static_cast<std::size_t>(learned_count_of(value, (flags & kCountedFlag) != 0, learned_count, bytes.size())));
  std::ranges::generate(value.learned, [&] { return in.i32(); });
  value.form = (flags & kFlatFlag) != 0 ? Form::kFlat : Form::kNested;
  value.form = value.written_form();
  for (std::uint32_t i = 0; with_prior_calls && i < prior_call_count && !in.empty(); ++i) {
    const std::uint32_t size = in.u32();
    value.prior_calls.push_back(decode_one(in.block(size), false));
  }
  reduce_extent(value, bytes.size());
  return value;
}

}  // namespace

std::vector<std::uint8_t> encode(const Case& value) {
  return encode_one(value, value.prior_calls);
}

Case decode(std::span<const std::uint8_t> bytes) {
  return decode_one(bytes, true);
}

}  // namespace kvwitness::harness
