// What a person gives the program: numbers, lists and the environment, read strictly. Everything wrong is a UsageError,
// whose message names the option, the value and the limit.
#ifndef PROPERTIES_CLI_ARGUMENTS_H
#define PROPERTIES_CLI_ARGUMENTS_H

#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace kvwitness::harness::cli {

// The exit statuses of the program. Where several apply, the order is kUsage (before anything runs), kFailed, kUsage (a
// class floor was missed), kCannotRun, kPassed.
enum class ExitStatus : int { kPassed = 0, kFailed = 1, kUsage = 2, kCannotRun = 3 };

// The call of the program is wrong, or its input cannot be read: exit status 2 before anything runs.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The decimal digits of `text` as a number in [least, greatest]; no sign, blank or other base. `option` names the
// source in the error.
std::uint64_t parse_count(std::string_view option, std::string_view text, std::uint64_t least, std::uint64_t greatest);
// A number of seconds, 0 or more, fractions allowed.
double parse_seconds(std::string_view option, std::string_view text);
// What stands between commas; at least one item, which may be empty.
std::vector<std::string> split_list(std::string_view text);
// Counts separated by commas; at least one.
std::vector<std::int64_t> parse_counts(std::string_view option, std::string_view text, std::int64_t least,
                                       std::int64_t greatest);

// The KVWITNESS_* variables. An empty one counts as unset. A further name with that prefix is a misspelling and
// refused; so is a value that is not what the variable holds.
struct Environment {
  std::optional<std::string> backend;  // KVWITNESS_BACKEND, a known name
  std::optional<std::uint64_t> seed;   // KVWITNESS_SEED
  std::optional<std::int64_t> cases;   // KVWITNESS_CASES
};
// @param variables  "NAME=VALUE" entries, ended by a null pointer, as in `environ`
Environment read_environment(const char* const* variables);
Environment environment_of_process();

// The largest number of generated cases a property that may be asked for.
inline constexpr std::int64_t kMaxCasesPerProperty = 1'000'000'000;

// Every name that KVWITNESS_BACKEND may hold, whether or not it can run here.
std::vector<std::string> known_backend_names();

// "; did you mean 'avx2'?" for the nearest of `names` where one is near, else "".
std::string suggestion(std::string_view given, std::span<const std::string> names);
// "a, b and c".
std::string listing(std::span<const std::string> names);

}  // namespace kvwitness::harness::cli

#endif  // PROPERTIES_CLI_ARGUMENTS_H
