// Files to replay: named ones, and those of named folders.
#ifndef FUZZ_ENGINE_REPLAY_FILES_H
#define FUZZ_ENGINE_REPLAY_FILES_H

#include <cstdint>
#include <expected>
#include <string>
#include <vector>

namespace kvwitness::fuzz {

// The regular files among `paths`, and in the folders among them, sorted by name. An error, in words, for a path that
// does not exist and for a folder without a file: a replay of nothing must not look like a success.
std::expected<std::vector<std::string>, std::string> files_of(const std::vector<std::string>& paths);

std::expected<std::vector<std::uint8_t>, std::string> bytes_of(const std::string& file);

}  // namespace kvwitness::fuzz

#endif  // FUZZ_ENGINE_REPLAY_FILES_H
