// SPDX-License-Identifier: Apache-2.0
#include "mlf/checksums.h"

#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "compiler/base/sha256.h"
#include "compiler/base/status.h"
#include "mlf/layout.h"

namespace kiln::mlf {
namespace {

constexpr size_t kDigits = 64;
constexpr absl::string_view kBlanks = "  ";

template <typename... Parts>
absl::Status ChecksumError(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

// Parses the lines and returns the checksums, keyed by path.
absl::StatusOr<std::map<std::string, absl::string_view>> ParseLines(absl::string_view text) {
  std::map<std::string, absl::string_view> checksums;
  int number = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    ++number;
    const bool is_line =
        line.size() > kDigits + kBlanks.size() && line.substr(kDigits, kBlanks.size()) == kBlanks;
    const std::string path(is_line ? line.substr(kDigits + kBlanks.size()) : "");
    if (!is_line || !checksums.emplace(path, line.substr(0, kDigits)).second) {
      return ChecksumError(kChecksumsPath, ":", number,
                           ": wanted 64 digits, two blanks and a path that ",
                           "comes once: the archive is damaged");
    }
  }
  return checksums;
}

}  // namespace

std::string ChecksumLines(const Artifacts& files) {
  std::string text;
  for (const auto& [path, bytes] : files) {
    absl::StrAppend(&text, Sha256(bytes), kBlanks, path, "\n");
  }
  return text;
}

absl::Status CheckChecksums(const Artifacts& files) {
  const auto lines = files.find(kChecksumsPath);
  if (lines == files.end()) return absl::OkStatus();
  KILN_ASSIGN_OR_RETURN(const auto checksums, ParseLines(lines->second));
  for (const auto& [path, wanted] : checksums) {
    const auto file = files.find(path);
    if (file == files.end()) {
      return ChecksumError("the archive has no file ", path, ", of which ", kChecksumsPath,
                           " has a checksum");
    }
    const std::string found = Sha256(file->second);
    if (found == wanted) continue;
    return ChecksumError(
        path, ": found the SHA-256 ", found, ", wanted ", wanted, " as ", kChecksumsPath,
        " says: the file is damaged, or was changed after the compiler had written it");
  }
  for (const auto& [path, bytes] : files) {
    if (path == kChecksumsPath || checksums.contains(path)) continue;
    return ChecksumError(kChecksumsPath, " has no checksum of the file ", path);
  }
  return absl::OkStatus();
}

}  // namespace kiln::mlf
