// SPDX-License-Identifier: Apache-2.0
//
// ELF notes of a shared object (kiln/library_notes.h), read before any of the file is mapped.
#ifndef KILN_RUNTIME_CPP_LIBRARY_NOTES_H_
#define KILN_RUNTIME_CPP_LIBRARY_NOTES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kiln::runtime {

// Copies `bytes` bytes of the file from `offset` on to `to`. Returns false if the file is too
// short.
using ReadBytes = std::function<bool(uint64_t offset, char* to, size_t bytes)>;

// A segment of type PT_NOTE.
struct NoteSegment {
  uint64_t offset;
  uint64_t bytes;
  uint64_t alignment;
};

// Returns the descriptor of the note KILN_NOTE_CPU. Empty if the segment has none, as in libraries
// of other compilers. DataLoss if the notes are inconsistent. The file is untrusted.
absl::StatusOr<std::string> FindCpuNote(const ReadBytes& read, const NoteSegment& segment);

// Returns FailedPrecondition, with the names of the missing features, if this CPU lacks features of
// the note. An empty note passes.
absl::Status CheckCpuNote(absl::string_view note);

// Checks features by LLVM's names. `cpu` is the CPU that the code was compiled for.
absl::Status CheckCpuFeatures(absl::string_view cpu, const std::vector<std::string>& features);

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_LIBRARY_NOTES_H_
