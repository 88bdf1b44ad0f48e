// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/files.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "absl/strings/str_cat.h"

namespace kiln::tools {

namespace fs = std::filesystem;

absl::StatusOr<std::string> ReadFile(const std::string& path, int64_t max_bytes) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) return absl::InvalidArgumentError(absl::StrCat(path, ": no such file"));
  if (!fs::is_regular_file(status)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": found a ", fs::is_directory(status) ? "folder" : "special file",
                     ", wanted a file"));
  }
  const uintmax_t size = fs::file_size(path, error);
  if (error) return absl::InvalidArgumentError(absl::StrCat(path, ": ", error.message()));
  if (size == 0) return absl::InvalidArgumentError(absl::StrCat(path, ": the file is empty"));
  if (size > static_cast<uintmax_t>(max_bytes)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": ", size, " bytes, at most ", max_bytes, " are read"));
  }
  std::ifstream file(path, std::ios::binary);
  std::string bytes(size, '\0');
  if (!file || !file.read(bytes.data(), static_cast<std::streamsize>(size))) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": cannot be read: ", std::strerror(errno)));
  }
  return bytes;
}

absl::Status WriteFiles(const std::string& folder,
                        const std::map<std::string, std::string>& files) {
  std::error_code error;
  const bool existed = fs::exists(folder, error);
  fs::create_directories(folder, error);
  if (error || !fs::is_directory(folder)) {
    return absl::InvalidArgumentError(absl::StrCat(folder, ": the output folder cannot be made",
                                                   error ? ": " + error.message() : std::string()));
  }
  std::vector<fs::path> temporary;
  absl::Status status;
  for (const auto& [name, bytes] : files) {
    const fs::path path = fs::path(folder) / (name + ".tmp");
    temporary.push_back(path);
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    file.close();
    if (!file) {
      status = absl::InvalidArgumentError(absl::StrCat(
          (fs::path(folder) / name).string(), ": cannot be written: ", std::strerror(errno)));
      break;
    }
  }
  for (const fs::path& path : temporary) {
    if (status.ok()) {
      fs::path final_path = path;
      final_path.replace_extension();
      fs::rename(path, final_path, error);
      if (!error) continue;
      status = absl::InvalidArgumentError(
          absl::StrCat(final_path.string(), ": cannot be written: ", error.message()));
    }
    fs::remove(path, error);
  }
  if (!status.ok() && !existed) fs::remove(folder, error);  // only if it is empty
  return status;
}

absl::Status WriteFile(absl::string_view option, const std::string& path,
                       const std::string& bytes) {
  const fs::path file = path;
  std::error_code error;
  if (!file.has_filename() || fs::is_directory(file, error)) {
    return absl::InvalidArgumentError(
        absl::StrCat(option, ": found the folder '", path, "', wanted a file"));
  }
  const std::string folder = file.parent_path().string();
  return WriteFiles(folder.empty() ? "." : folder, {{file.filename().string(), bytes}});
}

}  // namespace kiln::tools
