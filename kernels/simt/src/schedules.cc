#include <kvwitness/simt.h>

#include <charconv>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string_view>

#include "kernels/simt/src/memory.h"
#include "kernels/simt/src/runtime.h"
#include "kernels/simt/src/sanitizers.h"

namespace kvwitness::simt {
namespace {

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

bool passes(std::uint64_t schedule, const std::function<std::string(std::uint64_t)>& body) {
  detail::seed_global_poison(schedule);
  detail::set_launch_schedule(schedule);
  const std::string wrong = body(schedule);
  if (!wrong.empty()) {
    detail::msan_unpoison(wrong.c_str(), wrong.size() + 1);
    std::printf("simt: wrong under schedule %llu: %s\n", static_cast<unsigned long long>(schedule), wrong.c_str());
  }
  return wrong.empty();
}

}  // namespace

int run_schedules(int argc, char** argv, std::uint64_t count, const std::function<std::string(std::uint64_t)>& body) {
  const bool counts = argc == 3 && std::strcmp(argv[1], "--schedules") == 0;
  const std::optional<std::uint64_t> argument = counts ? number(argv[2]) : argc == 2 ? number(argv[1]) : std::nullopt;
  if (argc > 1 && (!argument || (counts && *argument == 0))) {
    std::fprintf(stderr, "usage: %s [SCHEDULE | --schedules COUNT], both decimal, the count at least 1\n", argv[0]);
    return 2;
  }
  if (argc == 2) {
    return passes(*argument, body) ? 0 : 1;
  }
  count = counts ? *argument : count;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (!passes(i == 0 ? in_order : i % 2 == 1 ? random_schedule(i / 2) : pct_schedule(i / 2), body)) {
      return 1;
    }
  }
  std::printf("simt: right under %llu schedules\n", static_cast<unsigned long long>(count));
  return 0;
}

}  // namespace kvwitness::simt
