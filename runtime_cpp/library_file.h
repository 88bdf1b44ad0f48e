// SPDX-License-Identifier: Apache-2.0
//
// A library on disk, opened once: one file descriptor serves the checksum, the checks of its format
// and the loader, so that all of them see the same file even if its path is replaced meanwhile.
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
  // Opens a regular file for reading. It never waits: a folder, FIFO, socket or device is
  // InvalidArgument and is not opened. Otherwise the code and text follow errno: NotFound if there
  // is no such file, PermissionDenied, ResourceExhausted if no file descriptor is left.
  static absl::StatusOr<LibraryFile> Open(const std::string& path);

  LibraryFile(LibraryFile&& other) noexcept;
  LibraryFile& operator=(LibraryFile&&) = delete;
  ~LibraryFile();

  // The path as it was passed to Open, for errors.
  const std::string& path() const { return path_; }

  // Stays this object's. No other process inherits it.
  int descriptor() const { return descriptor_; }

  // The device and inode, which no other file gets while this one is open or mapped.
  using Identity = std::pair<uint64_t, uint64_t>;
  Identity identity() const { return identity_; }

  // The size in bytes, and the time of the last write in nanoseconds since 1970, when the file was
  // opened.
  uint64_t size() const { return size_; }
  int64_t modified_ns() const { return modified_ns_; }

  // Fills `out` with the bytes from `offset` on. DataLoss if the file ends before.
  absl::Status Read(uint64_t offset, absl::Span<char> out) const;

  // The whole file in memory, mapped at the first call and valid as long as this object. Only for
  // one thread at a time. To touch bytes that another process has cut off since Open kills the
  // process; Read reports them as an error.
  absl::StatusOr<absl::string_view> Bytes();

  // DataLoss if the file has been written to since Open: what was checked is not what is loaded.
  absl::Status CheckUnchanged() const;

 private:
  explicit LibraryFile(std::string path) : path_(std::move(path)) {}

  absl::Status Inspect();

  std::string path_;
  int descriptor_ = -1;
  Identity identity_;
  uint64_t size_ = 0;
  int64_t modified_ns_ = 0;
  void* mapping_ = nullptr;  // size_ bytes, or NULL before Bytes is called.
};

// DataLoss if a file of `file_bytes` bytes is too short for `bytes` bytes from `offset` on, which its
// header promises. The text does not name the file.
absl::Status CheckReachesTo(uint64_t offset, uint64_t bytes, uint64_t file_bytes);

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_LIBRARY_FILE_H_
