// SPDX-License-Identifier: Apache-2.0
//
// Checks of a library's file before it is passed to the system's loader. The loader maps truncated
// files, too, and the first access to a missing page then kills the process.
#ifndef KILN_RUNTIME_CPP_ELF_CHECK_H_
#define KILN_RUNTIME_CPP_ELF_CHECK_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime_cpp/library_file.h"

namespace kiln::runtime {

// Checks that the file is an ELF file for this machine (otherwise InvalidArgument) and contains all
// its segments and its section table (otherwise DataLoss).
absl::Status CheckElf(const LibraryFile& file);

// Checks that this CPU has the features that the file's notes list. Returns FailedPrecondition with
// the missing features. A file without such notes passes. The file must have passed CheckElf.
absl::Status CheckCpu(const LibraryFile& file);

// Returns the size in bytes of the address space that the loader reserves for the segments of a
// file. The file must have passed CheckElf.
absl::StatusOr<uint64_t> ElfMemoryBytes(const LibraryFile& file);

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_ELF_CHECK_H_
