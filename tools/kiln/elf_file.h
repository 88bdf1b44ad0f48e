// SPDX-License-Identifier: Apache-2.0
// A libelf handle for a file in memory.
#ifndef KILN_TOOLS_KILN_ELF_FILE_H_
#define KILN_TOOLS_KILN_ELF_FILE_H_

#include <gelf.h>
#include <libelf.h>

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kiln::tools {

struct ElfFile {
  struct Closer {
    void operator()(Elf* elf) const { elf_end(elf); }
  };
  std::unique_ptr<Elf, Closer> elf;
  GElf_Ehdr header;
};

// Opens a file. `bytes` must outlive the result. InvalidArgument if they have no ELF header of a
// little-endian machine.
absl::StatusOr<ElfFile> OpenElf(absl::string_view bytes);

// Returns InvalidArgument with libelf's description of its last error.
absl::Status ElfError(absl::string_view what);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_ELF_FILE_H_
