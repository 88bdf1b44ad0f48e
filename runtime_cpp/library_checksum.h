// SPDX-License-Identifier: Apache-2.0
//
// The checksum of a shared object: what the compiler writes after the file's last byte, and what is
// checked before any of the file is mapped.
//
// It takes 24 bytes: "KILNXXH\x01", the number of bytes before it, and their XXH3 (64 bits), both
// little endian. A mark inside the file says that there is one, so a file that has lost or gained
// bytes at its end is found to be damaged: 32 bytes just before the table of sections, twice
// "KILN-CHECKSUM-01", which belong to no section. The system's loader sees neither, and a tool that
// writes the file anew (strip, objcopy) leaves both out; a library without them is not checked.
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

// Puts the mark into a whole shared object and appends the checksum. A file without a table of
// sections gets no mark.
void AppendLibraryChecksum(std::string& library);

// Reads the file to its end and returns its checksum; nullopt if it has neither checksum nor mark,
// and then most of the file is not read. DataLoss, naming the file, if it has a mark and no
// checksum, or if its bytes give another checksum.
absl::StatusOr<std::optional<uint64_t>> CheckLibraryChecksum(const LibraryFile& file);

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_LIBRARY_CHECKSUM_H_
