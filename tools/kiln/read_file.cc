// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "tools/kiln/files.h"

namespace kiln::tools {

namespace fs = std::filesystem;

namespace {

// Returns the size of a regular file that is not empty.
absl::StatusOr<uintmax_t> SizeOf(const std::string& path) {
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
  return size;
}

absl::StatusOr<std::string> Read(const std::string& path, uintmax_t size) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes(size, '\0');
  if (!file || !file.read(bytes.data(), static_cast<std::streamsize>(size))) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": cannot be read: ", std::strerror(errno)));
  }
  return bytes;
}

// Reads all of a stream. Errors contain `name`.
absl::StatusOr<std::string> ReadToEnd(std::FILE* stream, absl::string_view name,
                                      int64_t max_bytes) {
  constexpr size_t kPiece = size_t{1} << 16;
  std::string bytes;
  for (size_t read = kPiece; read == kPiece;) {
    const size_t at = bytes.size();
    bytes.resize(at + kPiece);
    read = std::fread(bytes.data() + at, 1, kPiece, stream);
    bytes.resize(at + read);
    if (bytes.size() > static_cast<size_t>(max_bytes)) {
      return absl::InvalidArgumentError(
          absl::StrCat(name, "at most ", max_bytes, " bytes are read"));
    }
  }
  if (std::ferror(stream) != 0) {
    return absl::InvalidArgumentError(absl::StrCat(name, "cannot be read: ", std::strerror(errno)));
  }
  if (bytes.empty()) return absl::InvalidArgumentError(absl::StrCat(name, "it is empty"));
  return bytes;
}

}  // namespace

absl::StatusOr<std::string> ReadFile(const std::string& path, int64_t max_bytes) {
  KILN_ASSIGN_OR_RETURN(const uintmax_t size, SizeOf(path));
  if (size > static_cast<uintmax_t>(max_bytes)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": ", size, " bytes, at most ", max_bytes, " are read"));
  }
  return Read(path, size);
}

absl::StatusOr<std::string> ReadBeginning(const std::string& path, int64_t bytes) {
  KILN_ASSIGN_OR_RETURN(const uintmax_t size, SizeOf(path));
  return Read(path, std::min(size, static_cast<uintmax_t>(bytes)));
}

absl::StatusOr<std::string> ReadFileOrPipe(const std::string& path, int64_t max_bytes) {
  if (path == "-") return ReadStandardInput(max_bytes);
  std::error_code error;
  if (!fs::is_fifo(path, error)) return ReadFile(path, max_bytes);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(std::fopen(path.c_str(), "rb"),
                                                             &std::fclose);
  if (pipe == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": cannot be read: ", std::strerror(errno)));
  }
  return ReadToEnd(pipe.get(), absl::StrCat(path, ": "), max_bytes);
}

absl::StatusOr<std::string> ReadStandardInput(int64_t max_bytes) {
  constexpr absl::string_view kName = "standard input: ";
  if (isatty(STDIN_FILENO) != 0) {
    return absl::InvalidArgumentError(absl::StrCat(kName, "found a terminal, wanted a file"));
  }
  return ReadToEnd(stdin, kName, max_bytes);
}

}  // namespace kiln::tools
