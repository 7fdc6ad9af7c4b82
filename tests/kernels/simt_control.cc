// Runs one positive control of the executor (a program with a defect) or an intact program, and judges what was
// reported.
//
//     simt_control --name NAME --expect EXPECTATION [--at FILE --tag TEXT]
//                  --results DIR -- PROGRAM [ARGUMENT...]
//     simt_control --table DIR NAME...
//
// EXPECTATION is race (ThreadSanitizer), memory (a sanitizer's report of a bad access), wrong (a wrong
// result), clean, or the name of a fault as simt::to_string has it. With --at and --tag the report must name a line of
// FILE that holds TEXT. A control that is reported under a schedule must be reported again by that schedule alone. The
// table reads what the runs left in DIR.
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace {

struct Request {
  std::string name, expectation, file, tag, results;
  std::vector<std::string> command;
};

struct Run {
  int exit_status = -1;  // or 128 and the number of the signal
  std::string output;
};

std::string quoted(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return result + "'";
}

Run run(const std::vector<std::string>& command) {
  std::string line;
  for (const std::string& word : command) {
    line += quoted(word) + " ";
  }
  Run result;
  FILE* const pipe = popen(("exec 2>&1; " + line).c_str(), "r");
  if (pipe == nullptr) {
    return result;
  }
  std::array<char, 4096> buffer;
  while (const std::size_t bytes = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
    result.output.append(buffer.data(), bytes);
  }
  const int status = pclose(pipe);
  result.exit_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return result;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// "file.cuh:31" for each line of the file that holds the tag.
std::vector<std::string> tagged_places(const std::string& path, const std::string& tag) {
  std::vector<std::string> places;
  std::ifstream file(path);
  std::string line;
  const std::string name = path.substr(path.find_last_of('/') + 1);
  for (int number = 1; std::getline(file, line); ++number) {
    if (contains(line, tag)) {
      places.push_back(name + ":" + std::to_string(number));
    }
  }
  return places;
}

// The place among `places` that the output names, as a whole number of a line.
std::optional<std::string> named_place(const std::string& output, const std::vector<std::string>& places) {
  for (const std::string& place : places) {
    for (std::size_t at = output.find(place); at != std::string::npos; at = output.find(place, at + 1)) {
      const char next = at + place.size() < output.size() ? output[at + place.size()] : ' ';
      if (next < '0' || next > '9') {
        return place;
      }
    }
  }
  return std::nullopt;
}

std::optional<std::string> number_after(const std::string& text, std::string_view words) {
  const std::size_t at = text.find(words);
  if (at == std::string::npos) {
    return std::nullopt;
  }
  const std::size_t begin = at + words.size();
  const std::size_t end = text.find_first_not_of("0123456789", begin);
  return begin == end ? std::nullopt : std::optional(text.substr(begin, end - begin));
}

// What was reported, in a few words; empty where it is not what was expected.
std::string reported(const Request& request, const Run& run) {
  const std::string& expectation = request.expectation;
  std::string what;
  if (expectation == "clean") {
    return run.exit_status == 0 && contains(run.output, "simt: right under ") ? "nothing" : "";
  }
  if (expectation == "race" && run.exit_status == 66 && contains(run.output, "WARNING: ThreadSanitizer: data race")) {
    what = "data race";
  } else if (expectation == "memory" && run.exit_status != 0 &&
             (contains(run.output, "ERROR: AddressSanitizer") || contains(run.output, "ERROR: ThreadSanitizer: SEGV") ||
              contains(run.output, "ERROR: MemorySanitizer: SEGV"))) {
    what = "bad address";
  } else if (expectation == "memory" && run.exit_status != 0 && contains(run.output, ": runtime error: ")) {
    what = "undefined behaviour";
  } else if (expectation == "wrong" && run.exit_status == 1 && contains(run.output, "simt: wrong under schedule ")) {
    what = "wrong result";
  } else if (run.exit_status == 1 && contains(run.output, "simt: " + expectation + " in block")) {
    what = expectation;
  } else {
    return "";
  }
  if (!request.file.empty()) {
    const std::optional<std::string> place = named_place(run.output, tagged_places(request.file, request.tag));
    return place ? what + " at " + *place : "";
  }
  return what;
}

std::optional<std::string> schedule_of(const Run& run) {
  std::optional<std::string> schedule = number_after(run.output, "simt: wrong under schedule ");
  return schedule ? schedule : number_after(run.output, "was found under schedule ");
}

int judge(const Request& request) {
  const Run first = run(request.command);
  std::string what = reported(request, first);
  std::string replay = "-";
  if (!what.empty() && request.expectation != "clean" && request.expectation != "memory") {
    const std::optional<std::string> schedule = schedule_of(first);
    std::vector<std::string> again = request.command;
    again.push_back(schedule.value_or("none"));
    const Run second = run(again);
    replay = schedule.value_or("none");
    if (!schedule || reported(request, second).empty()) {
      std::cout << "reported, but schedule " << replay << " alone does not report it again:\n" << second.output;
      what.clear();
    }
  }
  std::ofstream(request.results + "/" + request.name)
      << request.expectation << '\t' << (what.empty() ? "NOT REPORTED" : what) << '\t' << replay << '\n';
  std::cout << request.name << ": expected " << request.expectation << ", "
            << (what.empty() ? "not reported" : "reported: " + what) << '\n';
  if (what.empty()) {
    std::cout << "exit status " << first.exit_status << ", output:\n" << first.output;
  }
  return what.empty() ? 1 : 0;
}

void print_table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(row.size());
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      std::cout << row[i] << std::string(widths[i] + 2 - row[i].size(), ' ');
    }
    std::cout << '\n';
  }
}

int table(const std::string& results, const std::vector<std::string>& names) {
  std::vector<std::vector<std::string>> rows = {{"control", "expected", "reported", "schedule"}};
  int missing = 0;
  for (const std::string& name : names) {
    std::ifstream file(results + "/" + name);
    std::string expected, what, schedule;
    std::getline(file, expected, '\t');
    std::getline(file, what, '\t');
    std::getline(file, schedule);
    if (what.empty() || what == "NOT REPORTED") {
      what = what.empty() ? "NOT RUN" : what;
      ++missing;
    }
    rows.push_back({name, expected, what, schedule});
  }
  print_table(rows);
  std::cout << names.size() - static_cast<std::size_t>(missing) << " of " << names.size() << " as expected\n";
  return names.empty() || missing != 0 ? 1 : 0;
}

std::optional<Request> parse(const std::vector<std::string>& arguments) {
  Request request;
  std::size_t i = 0;
  for (; i + 1 < arguments.size() && arguments[i] != "--"; i += 2) {
    const std::string& option = arguments[i];
    std::string* const value = option == "--name"      ? &request.name
                               : option == "--expect"  ? &request.expectation
                               : option == "--at"      ? &request.file
                               : option == "--tag"     ? &request.tag
                               : option == "--results" ? &request.results
                                                       : nullptr;
    if (value == nullptr) {
      return std::nullopt;
    }
    *value = arguments[i + 1];
  }
  if (i >= arguments.size() || arguments[i] != "--") {
    return std::nullopt;
  }
  request.command.assign(arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1, arguments.end());
  const bool complete = !request.name.empty() && !request.expectation.empty() && !request.results.empty() &&
                        !request.command.empty() && request.file.empty() == request.tag.empty();
  return complete ? std::optional(std::move(request)) : std::nullopt;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() >= 2 && arguments[0] == "--table") {
    return table(arguments[1], {arguments.begin() + 2, arguments.end()});
  }
  if (const std::optional<Request> request = parse(arguments)) {
    return judge(*request);
  }
  std::cerr << "usage: simt_control --name NAME --expect EXPECTATION [--at FILE --tag TEXT] --results DIR -- PROGRAM "
               "[ARGUMENT...]\n"
               "       simt_control --table DIR NAME...\n";
  return 2;
}
