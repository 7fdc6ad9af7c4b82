#include "properties/cli/arguments.h"

#include <fmt/format.h>
#include <kvwitness/backend.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <system_error>

namespace kvwitness::harness::cli {
namespace {

constexpr std::string_view kVariablePrefix = "KVWITNESS_";

// Levenshtein's distance: insertions, deletions and replacements of one character.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0U : 1U);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

std::string read_backend(std::string_view value) {
  const std::vector<std::string> known = known_backend_names();
  if (std::find(known.begin(), known.end(), value) == known.end()) {
    throw UsageError(fmt::format("KVWITNESS_BACKEND is '{}', which is no backend{}; the backends are {}", value,
                                 suggestion(value, known), listing(known)));
  }
  return std::string(value);
}

}  // namespace

std::uint64_t parse_count(std::string_view option, std::string_view text, std::uint64_t least, std::uint64_t greatest) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end || value < least || value > greatest) {
    throw UsageError(fmt::format("{} is '{}', not an integer from {} to {}", option, text, least, greatest));
  }
  return value;
}

double parse_seconds(std::string_view option, std::string_view text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, std::chars_format::fixed);
  if (error != std::errc{} || stop != end || !std::isfinite(value) || value < 0) {
    throw UsageError(fmt::format("{} is '{}', not a number of seconds, such as 30 or 0.5", option, text));
  }
  return value;
}

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> items;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    items.emplace_back(text.substr(begin, comma - begin));
    begin = comma + 1;
  }
  return items;
}

std::vector<std::int64_t> parse_counts(std::string_view option, std::string_view text, std::int64_t least,
                                       std::int64_t greatest) {
  std::vector<std::int64_t> values;
  for (const std::string& item : split_list(text)) {
    std::int64_t value = 0;
    const auto [stop, error] = std::from_chars(item.data(), item.data() + item.size(), value);
    if (error != std::errc{} || stop != item.data() + item.size() || value < least || value > greatest) {
      throw UsageError(
          fmt::format("{} is '{}'; '{}' in it is not an integer from {} to {} (write a list as 512,1024,2048)", option,
                      text, item, least, greatest));
    }
    values.push_back(value);
  }
  return values;
}

Environment read_environment(const char* const* variables) {
  Environment environment;
  for (; *variables != nullptr; ++variables) {
    const std::string_view entry = *variables;
    if (!entry.starts_with(kVariablePrefix)) continue;
    const std::size_t equals = std::min(entry.find('='), entry.size());
    const std::string_view name = entry.substr(0, equals);
    const std::string_view value = entry.substr(std::min(equals + 1, entry.size()));
    const bool known = name == "KVWITNESS_BACKEND" || name == "KVWITNESS_SEED" || name == "KVWITNESS_CASES";
    if (known && value.empty()) continue;  // unset, as a script's ${SEED:-} leaves it
    if (name == "KVWITNESS_BACKEND") {
      environment.backend = read_backend(value);
    } else if (name == "KVWITNESS_SEED") {
      environment.seed = parse_count(name, value, 0, std::numeric_limits<std::uint64_t>::max());
    } else if (name == "KVWITNESS_CASES") {
      environment.cases =
          static_cast<std::int64_t>(parse_count(name, value, 0, static_cast<std::uint64_t>(kMaxCasesPerProperty)));
    } else {
      throw UsageError(
          fmt::format("the environment holds {}, which means nothing here; the variables are KVWITNESS_BACKEND (a name "
                      "of `kvwitness list`), KVWITNESS_SEED (an integer) and KVWITNESS_CASES (generated cases a "
                      "property)",
                      name));
    }
  }
  return environment;
}

Environment environment_of_process() {
  return read_environment(environ);
}

std::vector<std::string> known_backend_names() {
  const auto names = kvwitness::known_backend_names();
  return {names.begin(), names.end()};
}

std::string suggestion(std::string_view given, std::span<const std::string> names) {
  const std::string* nearest = nullptr;
  std::size_t least = std::max<std::size_t>(2, given.size() / 3) + 1;
  for (const std::string& name : names) {
    const std::size_t distance = edit_distance(given, name);
    if (distance < least) {
      least = distance;
      nearest = &name;
    }
  }
  return nearest == nullptr ? std::string{} : fmt::format("; did you mean '{}'?", *nearest);
}

std::string listing(std::span<const std::string> names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " and " : ", ";
    text += names[i];
  }
  return text;
}

}  // namespace kvwitness::harness::cli
