// SPDX-License-Identifier: Apache-2.0
//
// The checksum of a shared object: what the compiler writes after the file's last byte, and what is
// checked before any of the file is mapped.
//
// It takes 24 bytes: "KILNXXH\x01", the number of bytes before it, and their XXH3 (64 bits), both
// little endian. The system's loader does not see it, and tools that write the file anew (strip)
// leave it out; a library without it is not checked.
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

// Appends the checksum to a whole shared object.
void AppendLibraryChecksum(std::string& library);

// Reads the file to its end and returns its checksum; nullopt if it has none, and then most of the
// file is not read. DataLoss, naming the file, if the bytes are others than those that the checksum
// was made of.
absl::StatusOr<std::optional<uint64_t>> CheckLibraryChecksum(const LibraryFile& file);

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_LIBRARY_CHECKSUM_H_
