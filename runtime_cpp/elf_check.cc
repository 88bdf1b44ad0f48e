// SPDX-License-Identifier: Apache-2.0
#include "runtime_cpp/elf_check.h"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "runtime_cpp/library_notes.h"
#include "runtime_cpp/status/annotate.h"
#include "runtime_cpp/status/macros.h"

namespace kiln::runtime {
namespace {

#if defined(__x86_64__)
constexpr uint16_t kThisMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr uint16_t kThisMachine = EM_AARCH64;
#elif defined(__riscv)
constexpr uint16_t kThisMachine = EM_RISCV;
#else
constexpr uint16_t kThisMachine = EM_NONE;  // Unknown machine: the loader does the check.
#endif
constexpr unsigned char kThisClass = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;

std::string MachineName(uint16_t machine, unsigned char elf_class) {
  const char* const bits = elf_class == ELFCLASS64 ? "64" : "32";
  switch (machine) {
    case EM_X86_64:
      return elf_class == ELFCLASS64 ? "x86-64" : "x32";
    case EM_386:
      return "x86";
    case EM_AARCH64:
      return "aarch64";
    case EM_ARM:
      return "arm";
    case EM_RISCV:
      return absl::StrCat("riscv", bits);
    default:
      return absl::StrCat("the ", bits, "-bit machine ", machine, " of the ELF format");
  }
}

// Without this check, the loader would report that a library of another machine does not exist. The
// fields that identify the machine have the same offsets in 32-bit and 64-bit files.
absl::Status CheckMachine(const std::string& path, const ElfW(Ehdr) & header) {
  const unsigned char elf_class = header.e_ident[EI_CLASS];
  const bool swapped = header.e_ident[EI_DATA] == ELFDATA2MSB;
  const uint16_t machine = swapped ? __builtin_bswap16(header.e_machine) : header.e_machine;
  if (kThisMachine == EM_NONE || machine == EM_NONE) return absl::OkStatus();
  if (machine == kThisMachine && elf_class == kThisClass) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(path, ": is for ", MachineName(machine, elf_class),
                                                 ", this machine is ",
                                                 MachineName(kThisMachine, kThisClass)));
}

absl::Status CheckHolds(const LibraryFile& file, uint64_t offset, uint64_t bytes) {
  return Annotate(CheckReachesTo(offset, bytes, file.size()), file.path() + ": ");
}

struct Elf {
  ElfW(Ehdr) header = {};
  std::vector<ElfW(Phdr)> segments;
};

absl::StatusOr<Elf> ReadElf(const LibraryFile& file) {
  Elf elf;
  const auto header_bytes =
      static_cast<size_t>(std::min<uint64_t>(file.size(), sizeof(elf.header)));
  KILN_RETURN_IF_ERROR(file.Read(0, {reinterpret_cast<char*>(&elf.header), header_bytes}));
  const bool is_elf = memcmp(elf.header.e_ident, ELFMAG, SELFMAG) == 0;
  if (is_elf) KILN_RETURN_IF_ERROR(CheckMachine(file.path(), elf.header));
  if (header_bytes < sizeof(elf.header) || !is_elf ||
      elf.header.e_phentsize != sizeof(ElfW(Phdr))) {
    return absl::InvalidArgumentError(absl::StrCat(file.path(), ": is not a shared object"));
  }
  elf.segments.resize(elf.header.e_phnum);
  const size_t table_bytes = elf.segments.size() * sizeof(ElfW(Phdr));
  if (!CheckHolds(file, elf.header.e_phoff, table_bytes).ok()) {
    return absl::DataLossError(absl::StrCat(file.path(), ": is cut off in its program header"));
  }
  KILN_RETURN_IF_ERROR(
      file.Read(elf.header.e_phoff, {reinterpret_cast<char*>(elf.segments.data()), table_bytes}));
  return elf;
}

}  // namespace

absl::Status CheckElf(const LibraryFile& file) {
  KILN_ASSIGN_OR_RETURN(const Elf elf, ReadElf(file));
  for (const ElfW(Phdr) & segment : elf.segments) {
    if (segment.p_type != PT_LOAD) continue;
    KILN_RETURN_IF_ERROR(CheckHolds(file, segment.p_offset, segment.p_filesz));
  }
  // Only other tools read the section table. Most linkers put it at the end of the file, so a file
  // without it has been truncated.
  return CheckHolds(file, elf.header.e_shoff,
                    uint64_t{elf.header.e_shnum} * elf.header.e_shentsize);
}

absl::Status CheckCpu(const LibraryFile& file) {
  KILN_ASSIGN_OR_RETURN(const Elf elf, ReadElf(file));
  const ReadBytes read = [&file](uint64_t offset, char* to, size_t bytes) {
    return file.Read(offset, absl::MakeSpan(to, bytes)).ok();
  };
  for (const ElfW(Phdr) & segment : elf.segments) {
    if (segment.p_type != PT_NOTE) continue;
    KILN_RETURN_IF_ERROR(CheckHolds(file, segment.p_offset, segment.p_filesz));
    const absl::StatusOr<std::string> note =
        FindCpuNote(read, {segment.p_offset, segment.p_filesz, segment.p_align});
    const absl::Status status = note.ok() ? CheckCpuNote(*note) : note.status();
    KILN_RETURN_IF_ERROR(Annotate(status, file.path() + ": "));
  }
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> ElfMemoryBytes(const LibraryFile& file) {
  KILN_ASSIGN_OR_RETURN(const Elf elf, ReadElf(file));
  uint64_t begin = std::numeric_limits<uint64_t>::max(), end = 0;
  for (const ElfW(Phdr) & segment : elf.segments) {
    if (segment.p_type != PT_LOAD) continue;
    begin = std::min<uint64_t>(begin, segment.p_vaddr);
    end = std::max<uint64_t>(end, segment.p_vaddr + segment.p_memsz);
  }
  return end > begin ? end - begin : 0;
}

}  // namespace kiln::runtime
