// SPDX-License-Identifier: Apache-2.0
//
// Checks of a library's file before the system's loader gets it: the loader itself maps files that
// are cut off, and then the first access kills the process.
#ifndef KILN_RUNTIME_CPP_ELF_CHECK_H_
#define KILN_RUNTIME_CPP_ELF_CHECK_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime_cpp/library_file.h"

namespace kiln::runtime {

// Checks that the file is an ELF file for this machine (InvalidArgument if not) and holds all its
// segments and its table of sections (DataLoss if not).
absl::Status CheckElf(const LibraryFile& file);

// Checks that this CPU has what the notes of a file that CheckElf has passed say that its code needs:
// FailedPrecondition with the features that are missing. A file without such notes passes.
absl::Status CheckCpu(const LibraryFile& file);

// Bytes of address space that the loader takes for the segments of a file that CheckElf has passed.
absl::StatusOr<uint64_t> ElfMemoryBytes(const LibraryFile& file);

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_ELF_CHECK_H_
