// SPDX-License-Identifier: Apache-2.0
#include "runtime_cpp/checksum_mark.h"

#include <elf.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime_cpp/status/macros.h"

namespace kiln::runtime {
namespace {

// Number of bytes at the end of the file in which a mark is accepted at any position. Section
// tables are smaller.
constexpr uint64_t kTailBytes = uint64_t{64} << 10;

// The text is in two parts so that no program with this function contains the mark.
std::string Mark() { return absl::StrCat("KILN-CHE", "CKSUM-01"); }

// Fields of the header of an ELF file of any class and byte order.
class ElfHeader {
 public:
  explicit ElfHeader(absl::string_view bytes)
      : bytes_(bytes), is_64_(bytes[EI_CLASS] == ELFCLASS64) {}

  uint64_t section_table() const {
    return is_64_ ? Get(offsetof(Elf64_Ehdr, e_shoff), 8) : Get(offsetof(Elf32_Ehdr, e_shoff), 4);
  }
  uint64_t section_table_bytes() const {
    return is_64_
               ? Get(offsetof(Elf64_Ehdr, e_shnum), 2) * Get(offsetof(Elf64_Ehdr, e_shentsize), 2)
               : Get(offsetof(Elf32_Ehdr, e_shnum), 2) * Get(offsetof(Elf32_Ehdr, e_shentsize), 2);
  }

  // Writes the offset of the section table into a header.
  void SetSectionTable(uint64_t offset, std::string& elf) const {
    const size_t at = is_64_ ? offsetof(Elf64_Ehdr, e_shoff) : offsetof(Elf32_Ehdr, e_shoff);
    const size_t size = is_64_ ? 8 : 4;
    for (size_t i = 0; i < size; ++i) elf[at + i] = static_cast<char>(offset >> 8 * Byte(i, size));
  }

 private:
  // Returns the significance of the i-th byte of a field.
  size_t Byte(size_t i, size_t size) const {
    return bytes_[EI_DATA] == ELFDATA2MSB ? size - 1 - i : i;
  }
  uint64_t Get(size_t at, size_t size) const {
    uint64_t value = 0;
    for (size_t i = 0; i < size; ++i) {
      value |= uint64_t{static_cast<unsigned char>(bytes_[at + i])} << 8 * Byte(i, size);
    }
    return value;
  }

  absl::string_view bytes_;
  bool is_64_;
};

bool IsElf(absl::string_view bytes) {
  return bytes.size() >= sizeof(Elf64_Ehdr) && absl::StartsWith(bytes, ELFMAG);
}

}  // namespace

void AddChecksumMark(std::string& elf) {
  if (!IsElf(elf)) return;
  const std::string first_bytes = elf.substr(0, sizeof(Elf64_Ehdr));
  const ElfHeader header(first_bytes);
  const uint64_t begin = header.section_table(), bytes = header.section_table_bytes();
  if (begin == 0 || bytes == 0 || begin > elf.size() || bytes > elf.size() - begin) return;
  const std::string table = elf.substr(begin, bytes);
  // The table is usually at the end of the file. If not, the old copy stays in the file unused.
  if (begin + bytes == elf.size()) elf.resize(begin);
  elf.resize((elf.size() + 7) / 8 * 8);
  absl::StrAppend(&elf, Mark(), Mark());
  header.SetSectionTable(elf.size(), elf);
  elf += table;
}

absl::StatusOr<bool> HasChecksumMark(const LibraryFile& file) {
  const std::string mark = Mark();
  std::string header_bytes(std::min<uint64_t>(file.size(), sizeof(Elf64_Ehdr)), '\0');
  KILN_RETURN_IF_ERROR(file.Read(0, absl::MakeSpan(header_bytes)));
  if (!IsElf(header_bytes)) return false;
  std::string tail(std::min(file.size(), kTailBytes), '\0');
  KILN_RETURN_IF_ERROR(file.Read(file.size() - tail.size(), absl::MakeSpan(tail)));
  if (absl::StrContains(tail, mark)) return true;
  std::string place(2 * mark.size(), '\0');
  const uint64_t end = ElfHeader(header_bytes).section_table();
  if (end < place.size() || end > file.size()) return false;
  KILN_RETURN_IF_ERROR(file.Read(end - place.size(), absl::MakeSpan(place)));
  return absl::StrContains(place, mark);
}

}  // namespace kiln::runtime
