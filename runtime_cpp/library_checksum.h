// SPDX-License-Identifier: Apache-2.0
//
// The checksum of a shared object: what the compiler writes behind the file's last byte, and what
// is checked before any of the file is mapped.
//
// It takes 24 bytes: "KILNXXH\x01", the number of bytes before it, and their XXH3
// (64 bits), both little endian. A loader of the system does not see it, and tools that write the
// file anew (strip) leave it out; a library without it is not checked.
#ifndef KILN_RUNTIME_CPP_LIBRARY_CHECKSUM_H_
#define KILN_RUNTIME_CPP_LIBRARY_CHECKSUM_H_

#include <cstddef>
#include <string>

#include "absl/status/status.h"

namespace kiln::runtime {

inline constexpr size_t kLibraryChecksumBytes = 24;

// Puts the checksum behind a whole shared object.
void AppendLibraryChecksum(std::string& library);

// Reads the file to its end. DataLoss, naming the file, if it has a checksum and other bytes than
// those that the checksum was made of; NotFound if it cannot be opened.
absl::Status CheckLibraryChecksum(const std::string& path);

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_LIBRARY_CHECKSUM_H_
