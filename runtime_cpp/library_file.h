// SPDX-License-Identifier: Apache-2.0
//
// A library on disk, opened once. One file descriptor is used for the checksum, the checks of its
// format and the loader, so that all of them read the same file even if its path is replaced.
//
//   absl::StatusOr<LibraryFile> file = LibraryFile::Open("my_mod.so");
//   absl::Status checksum = CheckLibraryChecksum(*file).status();
//   absl::StatusOr<std::shared_ptr<DynamicLibrary>> library = DynamicLibrary::Load(*file);
#ifndef KILN_RUNTIME_CPP_LIBRARY_FILE_H_
#define KILN_RUNTIME_CPP_LIBRARY_FILE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace kiln::runtime {

class LibraryFile {
 public:
  // Opens a regular file for reading. It never blocks. A folder, FIFO, socket or device is not
  // opened and is an InvalidArgument error. Other errors follow errno, with its text: NotFound if
  // there is no such file, PermissionDenied, ResourceExhausted if no file descriptor is left.
  static absl::StatusOr<LibraryFile> Open(const std::string& path);

  LibraryFile(LibraryFile&& other) noexcept;
  LibraryFile& operator=(LibraryFile&&) = delete;
  ~LibraryFile();

  // Path as passed to Open, for error messages.
  const std::string& path() const { return path_; }

  // File descriptor, owned by this object. Other processes do not inherit it.
  int descriptor() const { return descriptor_; }

  // Device and inode. No other file can have them while this file is open or mapped.
  using Identity = std::pair<uint64_t, uint64_t>;
  Identity identity() const { return identity_; }

  // Size in bytes, and time of the last write in nanoseconds since 1970, both from the time when
  // the file was opened.
  uint64_t size() const { return size_; }
  int64_t modified_ns() const { return modified_ns_; }

  // Fills `out` with the bytes from `offset` on. Returns DataLoss if the file is too short.
  absl::Status Read(uint64_t offset, absl::Span<char> out) const;

  // Returns the whole file. It is mapped by the first call and valid as long as this object. Not
  // thread-safe. If another process has truncated the file since Open, access to the missing bytes
  // kills the process, whereas Read returns an error.
  absl::StatusOr<absl::string_view> Bytes();

  // Returns DataLoss if the file was written to since Open, so that the checks may not hold.
  absl::Status CheckUnchanged() const;

 private:
  explicit LibraryFile(std::string path) : path_(std::move(path)) {}

  absl::Status Inspect();

  std::string path_;
  int descriptor_ = -1;
  Identity identity_;
  uint64_t size_ = 0;
  int64_t modified_ns_ = 0;
  void* mapping_ = nullptr;  // Mapping of size_ bytes; null before Bytes is called.
};

// Returns DataLoss if a file of `file_bytes` bytes ends before `offset` + `bytes`, as its header
// promises. The text does not name the file.
absl::Status CheckReachesTo(uint64_t offset, uint64_t bytes, uint64_t file_bytes);

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_LIBRARY_FILE_H_
