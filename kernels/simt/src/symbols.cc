#include "kernels/simt/src/symbols.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <utility>

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

struct CodeSearch {
  const void* instruction;
  CodeRange found;
};

int visit_code(dl_phdr_info* info, std::size_t, void* context) {
  auto& search = *static_cast<CodeSearch*>(context);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0) {
      const CodeRange code = {static_cast<std::uintptr_t>(info->dlpi_addr + segment.p_vaddr),
                              static_cast<std::uintptr_t>(segment.p_memsz)};
      if (code.holds(search.instruction)) {
        search.found = code;
        return 1;
      }
    }
  }
  return 0;
}

}  // namespace

CodeRange code_around(const void* instruction) {
  CodeSearch search = {instruction, {}};
  dl_iterate_phdr(visit_code, &search);
  return search.found;
}

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
  // The kernels of a process have few such pairs, and each look-up starts processes. The launching threads share nothing
  // here, not even a lock, which a sanitizer would take for an order of their kernels.
  thread_local std::map<std::pair<CallChain, CallChain>, bool> answers;
  const auto [answer, is_new] = answers.try_emplace({a, b});
  if (is_new) {
    const std::string first = source_lines(a), second = source_lines(b);
    answer->second = first == second || first.empty() || second.empty();
  }
  return answer->second;
}

}  // namespace kvwitness::simt::detail
