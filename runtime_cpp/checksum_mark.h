// SPDX-License-Identifier: Apache-2.0
//
// The mark in an ELF file that says that a checksum follows the file (library_checksum.h).
#ifndef KILN_RUNTIME_CPP_CHECKSUM_MARK_H_
#define KILN_RUNTIME_CPP_CHECKSUM_MARK_H_

#include <string>

#include "absl/status/statusor.h"
#include "runtime_cpp/library_file.h"

namespace kiln::runtime {

// Inserts the mark before the section table of an ELF file of any machine. Other bytes, and a file
// without a section table, are unchanged.
void AddChecksumMark(std::string& elf);

// True if the file has the mark, before its section table or near its end. The mark is there twice,
// so that one damaged byte in the mark or in the table's offset does not hide it.
absl::StatusOr<bool> HasChecksumMark(const LibraryFile& file);

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_CHECKSUM_MARK_H_
