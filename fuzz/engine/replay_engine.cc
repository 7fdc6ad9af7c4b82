// The least fuzzing engine: a main that runs one target on files. As an archive it takes an engine's place at link
// time.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "fuzz/engine/input_deadline.h"
#include "fuzz/engine/replay_files.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int argc, char** argv) {
  using namespace kvwitness::fuzz;
  const auto files = files_of(std::vector<std::string>(argv + 1, argv + argc));
  if (!files) {
    std::fprintf(stderr, "replay: %s\n", files.error().c_str());
    return 2;
  }
  for (const std::string& file : *files) {
    const auto bytes = bytes_of(file);
    if (!bytes) {
      std::fprintf(stderr, "replay: %s\n", bytes.error().c_str());
      return 2;
    }
    std::fprintf(stderr, "replaying %s (%zu bytes)\n", file.c_str(), bytes->size());
    const InputDeadline deadline(file);
    LLVMFuzzerTestOneInput(bytes->data(), bytes->size());
  }
  std::fprintf(stderr, "replayed %zu files\n", files->size());
  return 0;
}
