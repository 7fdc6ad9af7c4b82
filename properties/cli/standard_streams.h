// Standard input, output and error as a program may find them: closed, full, or with nobody at the other end.
#ifndef PROPERTIES_CLI_STANDARD_STREAMS_H
#define PROPERTIES_CLI_STANDARD_STREAMS_H

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

namespace kvwitness::harness::cli {

// Opens those that are closed on /dev/null, so that no file gets their numbers, and lets a write where nobody reads fail
// instead of ending the program. The first thing that a program does.
void open_standard_streams() noexcept;

// Throws UsageError where standard output was closed from the start: of commands whose output is all that they do.
void require_standard_output();
// Throws UsageError where something that was printed could not be written, down to the last byte.
void flush_standard_output();
// Whether something could not be written to standard output.
bool has_lost_output() noexcept;
inline constexpr const char* kLostOutput =
    "standard output cannot be written: the disk may be full, or nobody reads it any more";

// To standard error. What cannot be written there is lost: the exit status and the reports say the same.
void put_error(std::string_view text) noexcept;
template <typename... T>
void print_error(fmt::format_string<T...> format, T&&... values) {
  put_error(fmt::format(format, std::forward<T>(values)...));
}

}  // namespace kvwitness::harness::cli

#endif  // PROPERTIES_CLI_STANDARD_STREAMS_H
