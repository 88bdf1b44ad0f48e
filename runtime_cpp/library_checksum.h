// SPDX-License-Identifier: Apache-2.0
//
// The checksum of a shared object. The compiler writes it after the last byte of the file. The
// runtime checks it before it maps the file.
//
// It has 24 bytes: "KILNXXH\x01", the number of bytes before it, and their XXH3 hash (64 bits),
// both little-endian. A mark inside the file says that a checksum follows, so that a file with
// missing or additional bytes at its end is detected. The mark has 32 bytes, twice
// "KILN-CHECKSUM-01", just before the section table, and belongs to no section. The system's loader
// ignores both. A tool that rewrites the file (strip, objcopy) drops both. A library without them
// is not checked.
#ifndef KILN_RUNTIME_CPP_LIBRARY_CHECKSUM_H_
#define KILN_RUNTIME_CPP_LIBRARY_CHECKSUM_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime_cpp/library_file.h"

namespace kiln::runtime {

inline constexpr size_t kLibraryChecksumBytes = 24;

// Inserts the mark into a whole shared object and appends the checksum. A file without a section
// table gets no mark.
void AppendLibraryChecksum(std::string& library);

// Reads the whole file and returns its checksum. If it has neither checksum nor mark, returns
// nullopt without reading most of the file. Returns DataLoss, with the name of the file, if it has
// a mark but no checksum, or if its bytes have another checksum.
absl::StatusOr<std::optional<uint64_t>> CheckLibraryChecksum(const LibraryFile& file);

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_LIBRARY_CHECKSUM_H_
