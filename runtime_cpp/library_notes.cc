// SPDX-License-Identifier: Apache-2.0
#include "runtime_cpp/library_notes.h"

#include <elf.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "kiln/library_notes.h"
#include "runtime_cpp/cpu/this_cpu.h"
#include "runtime_cpp/status/macros.h"

namespace kiln::runtime {
namespace {

constexpr absl::string_view kOwner(KILN_NOTE_OWNER, sizeof(KILN_NOTE_OWNER));  // with its NUL
// The names of all features that compilers know need a tenth of it.
constexpr uint32_t kMaxCpuNoteBytes = 64 << 10;

absl::Status Damaged() { return absl::DataLossError("its notes are damaged"); }

uint64_t RoundUp(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

}  // namespace

absl::StatusOr<std::string> FindCpuNote(const ReadBytes& read, const NoteSegment& segment) {
  const uint64_t alignment = segment.alignment == 8 ? 8 : 4;
  // Note headers are the same in 32-bit and 64-bit files.
  Elf64_Nhdr header;
  for (uint64_t at = 0; at < segment.bytes && sizeof(header) <= segment.bytes - at;) {
    if (!read(segment.offset + at, reinterpret_cast<char*>(&header), sizeof(header))) {
      return Damaged();
    }
    const uint64_t owner_at = at + sizeof(header);
    const uint64_t descriptor_at = RoundUp(owner_at + header.n_namesz, alignment);
    if (descriptor_at > segment.bytes || header.n_descsz > segment.bytes - descriptor_at) {
      return Damaged();
    }
    at = RoundUp(descriptor_at + header.n_descsz, alignment);
    if (header.n_type != KILN_NOTE_CPU || header.n_namesz != kOwner.size()) continue;
    std::string owner(kOwner.size(), '\0');
    if (!read(segment.offset + owner_at, owner.data(), owner.size())) return Damaged();
    if (owner != kOwner) continue;
    if (header.n_descsz > kMaxCpuNoteBytes) return Damaged();
    std::string note(header.n_descsz, '\0');
    if (!read(segment.offset + descriptor_at, note.data(), note.size())) return Damaged();
    return note;
  }
  return std::string();
}

absl::Status CheckCpuNote(absl::string_view note) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(note, absl::MaxSplits('\n', 1));
  return CheckCpuFeatures(parts.first, absl::StrSplit(parts.second, ',', absl::SkipEmpty()));
}

absl::Status CheckCpuFeatures(absl::string_view cpu, const std::vector<std::string>& features) {
  const std::vector<std::string> missing = MissingFeatures(features);
  if (missing.empty()) return absl::OkStatus();
  const absl::string_view level = LevelOfThisCpu();
  return absl::FailedPreconditionError(absl::StrCat(
      "is built for ", CpuText(cpu, features), ", this CPU lacks ", absl::StrJoin(missing, ", "),
      level.empty() ? "" : absl::StrCat("; it runs what is compiled with --target ", level)));
}

}  // namespace kiln::runtime
