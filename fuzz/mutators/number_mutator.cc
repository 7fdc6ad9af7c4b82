#include "fuzz/mutators/number_mutator.h"

#include <array>
#include <charconv>
#include <string>
#include <string_view>

#include "fuzz/inputs/json_numbers.h"

namespace kvwitness::fuzz {
namespace {

using Wide = __int128;

std::string as_text(Wide value) {
  std::string digits;
  for (Wide rest = value < 0 ? -value : value; rest > 0 || digits.empty(); rest /= 10) {
    digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(rest % 10)));
  }
  return value < 0 ? std::string("-").append(digits) : digits;
}

std::string changed(std::string_view text, Random& random) {
  // Where a type of fewer bits wraps; a base offset has four.
  constexpr std::array<int, 7> kBits = {4, 8, 16, 31, 32, 32, 64};
  constexpr std::array<std::string_view, 8> kLimits = {
      "2147483647", "2147483648",          "-2147483648",         "-2147483649",
      "4294967295", "9223372036854775807", "9223372036854775808", "-9223372036854775808"};
  std::int64_t value = 0;
  const bool is_integer =
      std::from_chars(text.data(), text.data() + text.size(), value).ptr == text.data() + text.size();
  switch (random() % 8) {
    case 0:
      return std::string(kLimits[random() % kLimits.size()]);
    case 1:
      return std::string(text) + (random() % 2 == 0 ? ".0" : ".5");
    case 2:
      return as_text(Wide{value} + static_cast<int>(random() % 3) - 1);
    case 3:
      // A fraction that single precision has not.
      return "0." + std::to_string(random());
    default: {
      const Wide step = Wide{1} << kBits[random() % kBits.size()];
      return is_integer ? as_text(Wide{value} + (random() % 4 == 0 ? -step : step)) : as_text(step);
    }
  }
}

Bytes mutate_number(std::span<const std::uint8_t> bytes, Random& random) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  constexpr unsigned kOneIn = 3;
  if (random() % kOneIn != 0) {
    return {};
  }
  const JsonNumbers found = json_numbers(text);
  if (found.numbers.empty()) {
    return {};
  }
  const std::string_view number = found.numbers[random() % found.numbers.size()].text;
  const auto at = static_cast<std::size_t>(number.data() - text.data());
  const std::string result =
      std::string(text.substr(0, at)) + changed(number, random) + std::string(text.substr(at + number.size()));
  return {result.begin(), result.end()};
}

}  // namespace

extern const Mutator kNumberMutator = {.mutate = mutate_number};

}  // namespace kvwitness::fuzz
