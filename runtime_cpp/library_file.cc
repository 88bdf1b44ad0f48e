// SPDX-License-Identifier: Apache-2.0
#include "runtime_cpp/library_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime_cpp/status/macros.h"

namespace kiln::runtime {
namespace {

// Returns the status of a failed system call, with the text of errno.
absl::Status SystemError(int error, const std::string& path, absl::string_view what) {
  const std::string message = absl::StrCat(path, ": cannot ", what, " the file");
  // A component of the path is a file, so the path does not exist.
  if (error == ENOTDIR) {
    return absl::NotFoundError(absl::ErrnoToStatus(error, message).message());
  }
  return absl::ErrnoToStatus(error, message);
}

absl::string_view KindOf(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

absl::Status CheckIsRegular(const std::string& path, mode_t mode) {
  if (S_ISREG(mode)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(path, ": is ", KindOf(mode), ", wanted a file"));
}

int64_t ModifiedNs(const struct stat& status) {
  return int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
}

}  // namespace

absl::Status CheckReachesTo(uint64_t offset, uint64_t bytes, uint64_t file_bytes) {
  uint64_t end = 0;
  if (__builtin_add_overflow(offset, bytes, &end)) end = std::numeric_limits<uint64_t>::max();
  if (end <= file_bytes) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat("is cut off after ", file_bytes, " bytes of at least ", end));
}

absl::StatusOr<LibraryFile> LibraryFile::Open(const std::string& path) {
  if (path.find('\0') != std::string::npos) {
    return absl::InvalidArgumentError("the path of a library has a NUL inside");
  }
  // Opening a device can have side effects, so its type is checked first. The file may be replaced
  // before it is opened. O_NONBLOCK then prevents a FIFO from waiting for its writer, and Inspect
  // checks the type again.
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) return SystemError(errno, path, "open");
  KILN_RETURN_IF_ERROR(CheckIsRegular(path, status.st_mode));
  LibraryFile file(path);
  do {
    file.descriptor_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  } while (file.descriptor_ < 0 && errno == EINTR);
  if (file.descriptor_ < 0) return SystemError(errno, path, "open");
  KILN_RETURN_IF_ERROR(file.Inspect());
  return file;
}

absl::Status LibraryFile::Inspect() {
  struct stat status = {};
  if (fstat(descriptor_, &status) != 0) return SystemError(errno, path_, "inspect");
  KILN_RETURN_IF_ERROR(CheckIsRegular(path_, status.st_mode));
  identity_ = {status.st_dev, status.st_ino};
  size_ = static_cast<uint64_t>(status.st_size);
  modified_ns_ = ModifiedNs(status);
  return absl::OkStatus();
}

LibraryFile::LibraryFile(LibraryFile&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      identity_(other.identity_),
      size_(other.size_),
      modified_ns_(other.modified_ns_),
      mapping_(std::exchange(other.mapping_, nullptr)) {}

LibraryFile::~LibraryFile() {
  if (mapping_ != nullptr) munmap(mapping_, size_);
  if (descriptor_ >= 0) close(descriptor_);
}

absl::Status LibraryFile::Read(uint64_t offset, absl::Span<char> out) const {
  while (!out.empty()) {
    const ssize_t bytes = pread(descriptor_, out.data(), out.size(), static_cast<off_t>(offset));
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) return SystemError(errno, path_, "read");
    if (bytes == 0) {
      return absl::DataLossError(
          absl::StrCat(path_, ": ends after ", offset, " bytes, wanted ", out.size(), " more"));
    }
    offset += static_cast<uint64_t>(bytes);
    out.remove_prefix(static_cast<size_t>(bytes));
  }
  return absl::OkStatus();
}

absl::StatusOr<absl::string_view> LibraryFile::Bytes() {
  if (size_ == 0) return absl::string_view();
  if (mapping_ == nullptr) {
    void* const mapping = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor_, 0);
    if (mapping == MAP_FAILED) return SystemError(errno, path_, "map");
    mapping_ = mapping;
  }
  return absl::string_view(static_cast<const char*>(mapping_), size_);
}

absl::Status LibraryFile::CheckUnchanged() const {
  struct stat status = {};
  if (fstat(descriptor_, &status) != 0) return SystemError(errno, path_, "inspect");
  if (static_cast<uint64_t>(status.st_size) == size_ && ModifiedNs(status) == modified_ns_) {
    return absl::OkStatus();
  }
  return absl::DataLossError(absl::StrCat(
      path_, ": was written to while it was loaded; replace a library by renaming another file"));
}

}  // namespace kiln::runtime
