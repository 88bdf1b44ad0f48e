// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/elf.h"

#include <cstddef>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "tools/kiln/elf_file.h"

namespace kiln::tools {
namespace {

absl::Status Damaged(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("the object is damaged: ", what));
}

class Reader {
 public:
  Reader(absl::string_view bytes, const ElfFile& file)
      : bytes_(bytes), elf_(file.elf.get()), has_sections_(file.header.e_shoff != 0) {
    object_.machine = file.header.e_machine;
    object_.address_bytes = file.header.e_ident[EI_CLASS] == ELFCLASS64 ? 8 : 4;
  }

  absl::StatusOr<ElfObject> Read() {
    KILN_RETURN_IF_ERROR(ReadSections());
    // Relocations are checked against symbols, so symbols are read first.
    for (size_t i = 0; i < headers_.size(); ++i) {
      if (headers_[i].sh_type == SHT_SYMTAB) KILN_RETURN_IF_ERROR(ReadSymbols(i));
    }
    for (size_t i = 0; i < headers_.size(); ++i) {
      const bool addend = headers_[i].sh_type == SHT_RELA;
      if (addend || headers_[i].sh_type == SHT_REL) {
        KILN_RETURN_IF_ERROR(ReadRelocations(i, addend));
      }
    }
    return std::move(object_);
  }

 private:
  std::string StringAt(size_t table, size_t at) {
    const char* const text = elf_strptr(elf_, table, at);
    return text == nullptr ? "" : text;
  }

  // Returns the contents of a section as structs of libelf, and sets `count` to their number.
  absl::StatusOr<Elf_Data*> Entries(size_t section, Elf_Type type, size_t* count) {
    Elf_Data* const data = elf_getdata(elf_getscn(elf_, section), nullptr);
    const size_t bytes = gelf_fsize(elf_, type, 1, EV_CURRENT);
    if (data == nullptr || data->d_type != type || bytes == 0) {
      return Damaged("a table is cut off");
    }
    *count = data->d_size / bytes;
    return data;
  }

  absl::Status ReadSections() {
    size_t count = 0, names = 0;
    if (elf_getshdrnum(elf_, &count) != 0 || elf_getshdrstrndx(elf_, &names) != 0) {
      return Damaged("its table of sections is cut off");
    }
    // libelf counts no sections if their table ends after the file.
    if (count == 0 && has_sections_) return Damaged("its table of sections is cut off");
    if (names >= count) return Damaged("its sections have no names");
    for (size_t i = 0; i < count; ++i) {
      Elf_Scn* const section = elf_getscn(elf_, i);
      GElf_Shdr header;
      if (section == nullptr || gelf_getshdr(section, &header) == nullptr) {
        return Damaged("its table of sections is cut off");
      }
      ElfSection read{.name = StringAt(names, header.sh_name),
                      .flags = header.sh_flags,
                      .size_bytes = header.sh_size,
                      .contents = {}};
      if (header.sh_type != SHT_NULL && header.sh_type != SHT_NOBITS) {
        if (header.sh_offset > bytes_.size() || header.sh_size > bytes_.size() - header.sh_offset) {
          return Damaged("a section is cut off");
        }
        read.contents = bytes_.substr(header.sh_offset, header.sh_size);
      }
      object_.sections.push_back(std::move(read));
      headers_.push_back(header);
    }
    return absl::OkStatus();
  }

  absl::Status ReadSymbols(size_t section) {
    if (!object_.symbols.empty()) return Damaged("it has two tables of symbols");
    const GElf_Shdr& table = headers_[section];
    if (table.sh_link >= headers_.size()) return Damaged("its symbols have no names");
    size_t count = 0;
    KILN_ASSIGN_OR_RETURN(Elf_Data* const data, Entries(section, ELF_T_SYM, &count));
    for (size_t i = 0; i < count; ++i) {
      GElf_Sym entry;
      if (gelf_getsym(data, static_cast<int>(i), &entry) == nullptr) {
        return Damaged("its table of symbols is cut off");
      }
      ElfSymbol symbol{.name = StringAt(table.sh_link, entry.st_name),
                       .value = entry.st_value,
                       .size_bytes = entry.st_size,
                       .section = entry.st_shndx,
                       .is_function = GELF_ST_TYPE(entry.st_info) == STT_FUNC};
      if (symbol.section < SHN_LORESERVE && symbol.section >= headers_.size()) {
        return Damaged("a symbol lies in no section");
      }
      // The lowest bit of a function's address selects Thumb.
      if (symbol.is_function && object_.machine == EM_ARM) symbol.value &= ~uint64_t{1};
      object_.symbols.push_back(std::move(symbol));
    }
    return absl::OkStatus();
  }

  absl::Status ReadRelocations(size_t section, bool addend) {
    const GElf_Shdr& table = headers_[section];
    if (table.sh_info >= headers_.size()) return Damaged("relocations belong to no section");
    size_t count = 0;
    KILN_ASSIGN_OR_RETURN(Elf_Data* const data,
                          Entries(section, addend ? ELF_T_RELA : ELF_T_REL, &count));
    for (size_t i = 0; i < count; ++i) {
      GElf_Rela entry = {};
      GElf_Rel without = {};
      const bool read = addend ? gelf_getrela(data, static_cast<int>(i), &entry) != nullptr
                               : gelf_getrel(data, static_cast<int>(i), &without) != nullptr;
      if (!read) return Damaged("a table of relocations is cut off");
      if (!addend) entry = {.r_offset = without.r_offset, .r_info = without.r_info, .r_addend = 0};
      const ElfRelocation relocation{.section = table.sh_info,
                                     .offset = entry.r_offset,
                                     .symbol = static_cast<uint32_t>(GELF_R_SYM(entry.r_info)),
                                     .addend = entry.r_addend};
      if (relocation.symbol >= object_.symbols.size()) return Damaged("a relocation has no symbol");
      object_.relocations.push_back(relocation);
    }
    return absl::OkStatus();
  }

  const absl::string_view bytes_;
  Elf* const elf_;
  const bool has_sections_;
  ElfObject object_;
  std::vector<GElf_Shdr> headers_;
};

}  // namespace

bool IsElfObject(absl::string_view bytes) {
  // The type of the file is at the same offset with 32-bit and 64-bit addresses.
  constexpr size_t kTypeAt = offsetof(Elf32_Ehdr, e_type);
  return absl::StartsWith(bytes, kElfMagic) && bytes.size() > kTypeAt + 1 &&
         bytes[kTypeAt] == ET_REL && bytes[kTypeAt + 1] == 0;
}

absl::StatusOr<ElfObject> ParseElfObject(absl::string_view bytes) {
  if (!IsElfObject(bytes)) {
    return absl::InvalidArgumentError("found no relocatable ELF object");
  }
  const absl::StatusOr<ElfFile> file = OpenElf(bytes);
  if (!file.ok()) return Annotate(file.status(), "the object cannot be read: ");
  return Reader(bytes, *file).Read();
}

}  // namespace kiln::tools
