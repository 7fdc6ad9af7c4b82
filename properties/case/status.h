// The numbers and names of the statuses that an operation may return, as the C ABI fixes them (kvw_status,
// kvw_status_name).
//
// A second statement of the table on purpose: case files and the oracle depend on nothing of the library that they
// judge. A test compares the two.
#ifndef PROPERTIES_CASE_STATUS_H
#define PROPERTIES_CASE_STATUS_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace kvwitness::harness {

namespace status {
inline constexpr std::int32_t kOk = 0;
inline constexpr std::int32_t kRowsMismatch = 1;
inline constexpr std::int32_t kSegmentsOutOfRange = 2;
inline constexpr std::int32_t kLearnedKeepOutOfRange = 3;
inline constexpr std::int32_t kNegativeCount = 4;
inline constexpr std::int32_t kNullPointer = 5;
inline constexpr std::int32_t kRowStride = 6;
inline constexpr std::int32_t kBufferOverlap = 7;
inline constexpr std::int32_t kBufferTooSmall = 8;
inline constexpr std::int32_t kContextLenOutOfRange = 9;
inline constexpr std::int32_t kUnknownBackend = 10;
inline constexpr std::int32_t kEnvironment = 11;
inline constexpr std::int32_t kCuda = 12;
inline constexpr std::int32_t kOutOfMemory = 13;
inline constexpr std::int32_t kCount = 14;
}  // namespace status

// "ok", "rows mismatch", ...; "unknown status" for every number outside the table.
std::string_view status_name(std::int32_t number) noexcept;

// The number of a name of the table, letter for letter; nothing for any other text ("unknown status" included).
std::optional<std::int32_t> status_number(std::string_view name) noexcept;

}  // namespace kvwitness::harness

#endif  // PROPERTIES_CASE_STATUS_H
