// SPDX-License-Identifier: Apache-2.0
//
// The mark in an ELF file which says that a checksum follows it (library_checksum.h).
#ifndef KILN_RUNTIME_CPP_CHECKSUM_MARK_H_
#define KILN_RUNTIME_CPP_CHECKSUM_MARK_H_

#include <string>

#include "absl/status/statusor.h"
#include "runtime_cpp/library_file.h"

namespace kiln::runtime {

// Puts the mark before the table of sections of an ELF file of any machine. Other bytes, and a file
// without such a table, stay as they are.
void AddChecksumMark(std::string& elf);

// True if the file has the mark, at its place or near its end. The mark is there twice, so damage
// to one byte of it or to the place does not hide it.
absl::StatusOr<bool> HasChecksumMark(const LibraryFile& file);

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_CHECKSUM_MARK_H_
