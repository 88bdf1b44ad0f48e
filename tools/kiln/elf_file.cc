// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/elf_file.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace kiln::tools {

absl::Status ElfError(absl::string_view what) {
  const int error = elf_errno();
  return absl::InvalidArgumentError(
      absl::StrCat(what, error == 0 ? "" : absl::StrCat(": ", elf_errmsg(error))));
}

absl::StatusOr<ElfFile> OpenElf(absl::string_view bytes) {
  if (elf_version(EV_CURRENT) == EV_NONE) return absl::InternalError("libelf is too old");
  // The handle is read-only, so the const_cast is safe: libelf does not write to the image.
  ElfFile file = {
      .elf = decltype(ElfFile::elf)(elf_memory(const_cast<char*>(bytes.data()), bytes.size()))};
  if (file.elf == nullptr || elf_kind(file.elf.get()) != ELF_K_ELF ||
      gelf_getehdr(file.elf.get(), &file.header) == nullptr) {
    return ElfError("its ELF header is damaged or cut off");
  }
  if (file.header.e_ident[EI_DATA] != ELFDATA2LSB) {
    return absl::UnimplementedError("it is big endian; only little endian is known");
  }
  return file;
}

}  // namespace kiln::tools
