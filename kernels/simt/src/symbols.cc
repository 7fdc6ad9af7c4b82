#include "kernels/simt/src/symbols.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>

#include "kernels/simt/src/sanitizers.h"

namespace kvwitness::simt::detail {
namespace {

std::string quoted(const char* text) {
  std::string result = "'";
  for (; *text != '\0'; ++text) {
    result += *text == '\'' ? std::string("'\\''") : std::string(1, *text);
  }
  return result + "'";
}

// addr2line's lines alternate: a function, a place.
std::string read_places(FILE* pipe) {
  std::string text;
  char line[4096];
  for (bool is_place = false; std::fgets(line, sizeof(line), pipe) != nullptr; is_place = !is_place) {
    std::string place = line;
    place.erase(place.find_last_not_of("\n ") + 1);
    place.erase(std::min(place.find(" (discriminator"), place.size()));
    if (is_place && place.find("??") == std::string::npos && place.find(":?") == std::string::npos &&
        place.find("kvwitness/simt/device.h:") == std::string::npos &&
        place.find("kvwitness/simt.h:") == std::string::npos) {
      text += (text.empty() ? "" : ", called at ") + place;
    }
  }
  return text;
}

}  // namespace

std::string source_lines(const void* instruction) {
  Dl_info info = {};
  if (instruction == nullptr || dladdr(instruction, &info) == 0 || info.dli_fname == nullptr) {
    return {};
  }
  char address[32];
  std::snprintf(
      address, sizeof(address), "0x%zx",
      static_cast<std::size_t>(static_cast<const char*>(instruction) - static_cast<const char*>(info.dli_fbase)));
  const std::string command = "addr2line -Cfie " + quoted(info.dli_fname) + " " + address + " 2>/dev/null";
  msan_unpoison(command.c_str(), command.size() + 1);
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) {
    return {};
  }
  std::string places = read_places(pipe);
  pclose(pipe);
  return places;
}

std::string source_lines(const CallChain& chain) {
  std::string text;
  for (const void* const address : chain.addresses) {
    if (address != nullptr) {  // of the call, not of what follows it
      const std::string places = source_lines(static_cast<const char*>(address) - 1);
      text += (text.empty() || places.empty() ? "" : ", called at ") + places;
    }
  }
  return text;
}

bool same_calls(const CallChain& a, const CallChain& b) {
  const std::string first = source_lines(a), second = source_lines(b);
  return first == second || first.empty() || second.empty();
}

}  // namespace kvwitness::simt::detail
