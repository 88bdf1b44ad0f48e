// SPDX-License-Identifier: Apache-2.0
#include <archive.h>
#include <archive_entry.h>

#include <memory>
#include <string>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "compiler/base/status.h"
#include "mlf/tar.h"

namespace kiln::mlf {
namespace {

constexpr size_t kBlockBytes = 512;
// Two blocks of zeros end an archive.
constexpr size_t kEndBytes = 2 * kBlockBytes;
// Offset of the magic string in the first header.
constexpr size_t kMagicOffset = 257;
constexpr absl::string_view kMagic = "ustar";

using Reader = std::unique_ptr<struct archive, decltype(&archive_read_free)>;

template <typename... Parts>
absl::Status Error(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

absl::Status Damaged(struct archive* reader) {
  const char* const text = archive_error_string(reader);
  return Error("the archive is damaged: ", text == nullptr ? "no valid header" : text);
}

// Returns the path without "./"; empty for the folder itself. Error if it leads out of the folder.
absl::StatusOr<std::string> SafePath(struct archive_entry* entry) {
  const char* const text = archive_entry_pathname(entry);
  if (text == nullptr || *text == '\0') return Error("a member has no readable name");
  absl::string_view path = text;
  while (absl::ConsumePrefix(&path, "./")) {
  }
  if (path == ".") path = "";
  if (archive_entry_filetype(entry) == AE_IFDIR) absl::ConsumeSuffix(&path, "/");
  if (path.empty()) return std::string();
  for (const absl::string_view part : absl::StrSplit(path, '/')) {
    if (part.empty() || part == "." || part == "..") {
      return Error("the member '", text, "' leaves the folder, or is not a plain path");
    }
  }
  return std::string(path);
}

// True if the bytes from `offset` on, after the rest of its block, are the end of an archive and
// nothing else.
bool IsEnd(absl::string_view bytes, int64_t offset) {
  const size_t begin = (static_cast<size_t>(offset) + kBlockBytes - 1) / kBlockBytes * kBlockBytes;
  return begin <= bytes.size() && bytes.size() - begin >= kEndBytes &&
         absl::c_all_of(bytes.substr(begin), [](char c) { return c == '\0'; });
}

class TarReader {
 public:
  explicit TarReader(absl::string_view bytes)
      : bytes_(bytes), reader_(archive_read_new(), archive_read_free) {}

  absl::StatusOr<Artifacts> Read() {
    if (bytes_.size() < kBlockBytes || bytes_.substr(kMagicOffset, kMagic.size()) != kMagic) {
      return Error("not a tar archive");
    }
    if (archive_read_support_format_tar(reader_.get()) != ARCHIVE_OK ||
        archive_read_open_memory(reader_.get(), bytes_.data(), bytes_.size()) != ARCHIVE_OK) {
      return Damaged(reader_.get());
    }
    while (true) {
      struct archive_entry* entry = nullptr;
      const int result = archive_read_next_header(reader_.get(), &entry);
      if (result == ARCHIVE_EOF) break;
      if (result != ARCHIVE_OK) return Damaged(reader_.get());
      if (++members_ > kMaxMembers) return Error("over ", kMaxMembers, " members");
      KILN_RETURN_IF_ERROR(ReadMember(entry));
      // Skips to the end of the member's last block.
      if (archive_read_data_skip(reader_.get()) != ARCHIVE_OK) return Damaged(reader_.get());
      end_ = archive_filter_bytes(reader_.get(), -1);
    }
    if (!IsEnd(bytes_, end_)) {
      return Error("the archive is cut off, or has something behind its end");
    }
    return std::move(files_);
  }

 private:
  absl::Status ReadMember(struct archive_entry* entry) {
    KILN_ASSIGN_OR_RETURN(const std::string path, SafePath(entry));
    const auto type = archive_entry_filetype(entry);
    if (archive_entry_hardlink(entry) != nullptr || archive_entry_symlink(entry) != nullptr ||
        (type != AE_IFREG && type != AE_IFDIR)) {
      return Error("the member '", path, "' is a link or a special file");
    }
    if (type == AE_IFDIR) return absl::OkStatus();
    if (path.empty()) return Error("a member has no readable name");
    // Sparse files claim sizes for which the archive has no bytes.
    const int64_t size = archive_entry_size(entry);
    if (size < 0 || static_cast<uint64_t>(size) > bytes_.size() - total_bytes_) {
      return Error("the member '", path, "' claims ", size, " bytes, the archive has ",
                   bytes_.size());
    }
    total_bytes_ += static_cast<size_t>(size);
    std::string bytes(static_cast<size_t>(size), '\0');
    const la_ssize_t found = archive_read_data(reader_.get(), bytes.data(), bytes.size());
    if (found < 0) return Damaged(reader_.get());
    if (static_cast<size_t>(found) != bytes.size()) {
      return Error("the member '", path, "' is cut off");
    }
    if (!files_.emplace(path, std::move(bytes)).second) {
      return Error("the member '", path, "' comes twice");
    }
    return absl::OkStatus();
  }

  const absl::string_view bytes_;
  const Reader reader_;
  Artifacts files_;
  int members_ = 0;
  size_t total_bytes_ = 0;
  int64_t end_ = 0;  // offset of the end of the members read so far
};

}  // namespace

absl::StatusOr<Artifacts> UnpackTar(absl::string_view bytes, absl::string_view name) {
  absl::StatusOr<Artifacts> files = TarReader(bytes).Read();
  if (files.ok()) return files;
  return absl::Status(files.status().code(), absl::StrCat(name, ": ", files.status().message()));
}

}  // namespace kiln::mlf
