// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/library_metadata.h"

#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "kiln/library_notes.h"
#include "metadata/json.h"
#include "runtime_cpp/library_file.h"
#include "tools/kiln/elf_file.h"

namespace kiln::tools {
namespace {

// More than a hundred times the metadata of the largest model compiled so far.
constexpr size_t kMaxMetadataBytes = size_t{256} << 20;

absl::StatusOr<std::vector<GElf_Phdr>> ProgramHeaders(const ElfFile& file, size_t file_bytes) {
  size_t count = 0;
  if (elf_getphdrnum(file.elf.get(), &count) != 0) {
    return ElfError("its program header is damaged or cut off");
  }
  std::vector<GElf_Phdr> headers;
  for (size_t i = 0; i < count; ++i) {
    GElf_Phdr header;
    if (gelf_getphdr(file.elf.get(), static_cast<int>(i), &header) == nullptr) {
      return ElfError("its program header is damaged or cut off");
    }
    KILN_RETURN_IF_ERROR(runtime::CheckReachesTo(header.p_offset, header.p_filesz, file_bytes));
    headers.push_back(header);
  }
  return headers;
}

// Appends the notes of a segment with the type KILN_NOTE_METADATA.
absl::Status TakeNotes(const ElfFile& file, const GElf_Phdr& segment,
                       std::vector<absl::string_view>& found) {
  Elf_Data* const data =
      elf_getdata_rawchunk(file.elf.get(), static_cast<int64_t>(segment.p_offset), segment.p_filesz,
                           segment.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
  if (data == nullptr) return ElfError("its notes are damaged");
  GElf_Nhdr note;
  size_t name_at = 0, descriptor_at = 0;
  for (size_t at = 0; (at = gelf_getnote(data, at, &note, &name_at, &descriptor_at)) > 0;) {
    const char* const bytes = static_cast<const char*>(data->d_buf);
    const absl::string_view owner(bytes + name_at, note.n_namesz);
    // The owner includes the terminating NUL.
    if (owner != absl::string_view(KILN_NOTE_OWNER, sizeof(KILN_NOTE_OWNER))) continue;
    if (note.n_type == KILN_NOTE_METADATA) found.emplace_back(bytes + descriptor_at, note.n_descsz);
  }
  return absl::OkStatus();
}

absl::StatusOr<proto::Metadata> Read(absl::string_view bytes) {
  KILN_ASSIGN_OR_RETURN(const ElfFile file, OpenElf(bytes));
  if (file.header.e_type == ET_EXEC) {
    return absl::InvalidArgumentError(
        "is a program; for a firmware image wanted --emulator with a QEMU and its arguments, which "
        "runs it and counts instructions");
  }
  if (file.header.e_type != ET_DYN) {
    return absl::InvalidArgumentError("is an ELF file, but no shared object");
  }
  KILN_ASSIGN_OR_RETURN(const std::vector<GElf_Phdr> segments, ProgramHeaders(file, bytes.size()));
  KILN_RETURN_IF_ERROR(runtime::CheckReachesTo(
      file.header.e_shoff, uint64_t{file.header.e_shnum} * file.header.e_shentsize, bytes.size()));
  std::vector<absl::string_view> notes;
  for (const GElf_Phdr& segment : segments) {
    if (segment.p_type == PT_NOTE) KILN_RETURN_IF_ERROR(TakeNotes(file, segment, notes));
  }
  if (notes.empty()) {
    return absl::InvalidArgumentError(
        "is a shared object without a note of Kiln's metadata; wanted a model that this version "
        "has compiled, or for a library of TVM add --load, which loads the library and runs its "
        "code");
  }
  if (notes.size() > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("found ", notes.size(), " notes of metadata, wanted one"));
  }
  if (notes.front().size() > kMaxMetadataBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "found ", notes.front().size(), " bytes of metadata, wanted at most ", kMaxMetadataBytes));
  }
  return ParseMetadataJson(notes.front(), "");
}

}  // namespace

absl::StatusOr<proto::Metadata> ReadLibraryMetadata(absl::string_view bytes,
                                                    absl::string_view name) {
  absl::StatusOr<proto::Metadata> metadata = Read(bytes);
  if (metadata.ok()) return metadata;
  return Annotate(metadata.status(), absl::StrCat(name, ": "));
}

}  // namespace kiln::tools
