#include "fuzz/engine/replay_files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace kvwitness::fuzz {

namespace fs = std::filesystem;

std::expected<std::vector<std::string>, std::string> files_of(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      if (!fs::is_regular_file(path, error)) {
        return std::unexpected(path + ": no such file or folder");
      }
      files.push_back(path);
      continue;
    }
    const std::size_t before = files.size();
    for (const auto& entry : fs::directory_iterator(path)) {
      if (entry.is_regular_file()) {
        files.push_back(entry.path().string());
      }
    }
    if (files.size() == before) {
      return std::unexpected(path + ": the folder holds no file");
    }
    std::sort(files.begin() + static_cast<std::ptrdiff_t>(before), files.end());
  }
  if (files.empty()) {
    return std::unexpected("there is no file to replay");
  }
  return files;
}

std::expected<std::vector<std::uint8_t>, std::string> bytes_of(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) {
    return std::unexpected(file + ": cannot be read");
  }
  return std::vector<std::uint8_t>(std::istreambuf_iterator<char>(stream), {});
}

}  // namespace kvwitness::fuzz
