#include "properties/run/failure_database.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "properties/run/fnv1a.h"
#include "properties/run/whole_file.h"

namespace kvwitness::harness {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBetween = ", ";

std::string note_of(const FailureEntry& entry) {
  return std::string(entry.failed_again ? kFailureNote : kOnceFailedNote) + entry.implementation +
         std::string(kBetween) + entry.property;
}

// "fails: IMPLEMENTATION, PROPERTY". A plug-in's name may hold a comma, a property's never does.
bool read_note(const std::string& note, FailureEntry& entry) {
  entry.failed_again = !note.starts_with(kOnceFailedNote);
  const std::string_view begins = entry.failed_again ? kFailureNote : kOnceFailedNote;
  const std::size_t between = note.rfind(kBetween);
  if (!note.starts_with(begins) || between == std::string::npos || between < begins.size()) return false;
  entry.implementation = note.substr(begins.size(), between - begins.size());
  entry.property = note.substr(between + kBetween.size());
  return !entry.implementation.empty() && !entry.property.empty();
}

// A name for a case that depends only on its values.
std::string digest_of(const Case& value) {
  const std::uint64_t hash = fnv1a(encode(value));
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (int shift = 60; shift >= 0; shift -= 4) text += kDigits[(hash >> shift) & 15];
  return text;
}

std::string file_part(std::string_view name) {
  std::string part;
  for (const char letter : name.substr(0, 64)) {
    part += std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_' ? letter : '-';
  }
  return part;
}

std::string error_at(const fs::path& path, std::string_view what) {
  return path.string() + ": " + std::string(what);
}

std::expected<FailureEntry, std::string> read_entry(const fs::path& path) {
  auto cases = read_cases(path.string());
  if (!cases) return std::unexpected(cases.error().message());
  FailureEntry entry{.path = path.string(), .implementation = {}, .property = {}, .cases = std::move(*cases)};
  for (Case& value : entry.cases) {
    FailureEntry pair;
    if (!read_note(value.note, pair)) {
      return std::unexpected(error_at(path, "the note of a kept failure is \"fails: IMPLEMENTATION, PROPERTY\""));
    }
    if (!entry.property.empty() && (pair.implementation != entry.implementation || pair.property != entry.property)) {
      return std::unexpected(error_at(path, "a kept failure is of one implementation and one property"));
    }
    entry.implementation = std::move(pair.implementation);
    entry.property = std::move(pair.property);
    entry.failed_again = pair.failed_again;
    value.note.clear();
  }
  return entry;
}

}  // namespace

std::expected<std::vector<FailureEntry>, std::string> read_failures(const std::string& folder) {
  std::error_code error;
  if (!fs::exists(folder, error) && !error) return std::vector<FailureEntry>{};
  std::vector<fs::path> paths;
  for (fs::directory_iterator at(folder, error); !error && at != fs::directory_iterator(); at.increment(error)) {
    if (at->path().extension() == ".json") paths.push_back(at->path());
  }
  if (error) return std::unexpected(error_at(folder, "cannot list the kept failures: " + error.message()));
  std::ranges::sort(paths);
  std::vector<FailureEntry> entries;
  for (const fs::path& path : paths) {
    auto entry = read_entry(path);
    if (!entry) return std::unexpected(entry.error());
    entries.push_back(std::move(*entry));
  }
  return entries;
}

std::string failure_path(const std::string& folder, std::string_view implementation, std::string_view property,
                         const Case& original) {
  const std::string name = file_part(implementation) + "-" + file_part(property) + "-" + digest_of(original) + ".json";
  return (fs::path(folder) / name).string();
}

std::expected<void, std::string> write_failure(const FailureEntry& entry) {
  const fs::path path(entry.path);
  std::error_code error;
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), error);
  if (error) return std::unexpected(error_at(path, "cannot make the folder: " + error.message()));
  std::string lines;
  for (Case value : entry.cases) {
    value.note = note_of(entry);
    lines += to_json(value) + '\n';
  }
  if (const int number = replace_file(entry.path, lines); number != 0) {
    return std::unexpected(error_at(path, std::string("cannot write: ") + std::strerror(number)));
  }
  return {};
}

void keep_long_cases(RunReport& report, const std::string& folder) {
  std::set<std::string> written;
  for (ImplementationResult& result : report.implementations) {
    for (PropertyResult& property : result.properties) {
      if (!property.counterexample || !property.counterexample->failure_file.empty()) continue;
      Counterexample& found = *property.counterexample;
      if (to_json(found.minimal).size() <= kLongestPastedCase) continue;
      const std::string path = (fs::path(folder) / ("kvwitness-" + digest_of(found.minimal) + ".json")).string();
      if (!written.contains(path) &&
          !write_failure({path, result.implementation, property.property, {found.minimal}})) {
        continue;
      }
      written.insert(path);
      found.failure_file = path;
    }
  }
}

std::expected<void, std::string> mark_fixed(const FailureEntry& entry) {
  const fs::path path(entry.path);
  const fs::path fixed = path.parent_path() / "fixed";
  std::error_code error;
  fs::create_directories(fixed, error);
  if (!error) fs::rename(path, fixed / path.filename(), error);
  if (error) return std::unexpected(error_at(path, "cannot move to " + fixed.string() + ": " + error.message()));
  return {};
}

}  // namespace kvwitness::harness
