// SPDX-License-Identifier: Apache-2.0
// A relocatable ELF object (.o), 32 or 64 bits, little endian, as tables: what is needed to count
// its bytes and to follow its calls. An object is untrusted: one that contradicts itself is an
// error.
//
//   KILN_ASSIGN_OR_RETURN(ElfObject object, ParseElfObject(bytes));
//   for (const ElfSection& section : object.sections) …
#ifndef KILN_TOOLS_KILN_ELF_H_
#define KILN_TOOLS_KILN_ELF_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kiln::tools {

// What every ELF file begins with.
inline constexpr absl::string_view kElfMagic = "\x7f\x45LF";
inline constexpr uint16_t kElfMachineArm = 40;

struct ElfSection {
  std::string name;
  uint64_t flags = 0;
  uint64_t size_bytes = 0;
  uint32_t link = 0;           // the section that this one describes, if flags say so
  absl::string_view contents;  // empty if the section takes no place in the file

  bool in_memory() const { return (flags & 2) != 0; }  // SHF_ALLOC
  bool writable() const { return (flags & 1) != 0; }   // SHF_WRITE
};

struct ElfSymbol {
  std::string name;
  uint64_t value = 0;  // offset in its section; of a function without Thumb's bit
  uint64_t size_bytes = 0;
  uint32_t section = 0;  // 0: defined elsewhere
  bool is_function = false;
};

struct ElfRelocation {
  uint32_t section = 0;  // whose contents name the symbol
  uint64_t offset = 0;   // where in it
  uint32_t symbol = 0;
  int64_t addend = 0;  // 0 where it is in the contents
};

struct ElfObject {
  uint16_t machine = 0;
  int address_bytes = 4;
  std::vector<ElfSection> sections;
  std::vector<ElfSymbol> symbols;
  std::vector<ElfRelocation> relocations;  // their sections and symbols exist
};

// Whether `bytes` begin like a relocatable object.
bool IsElfObject(absl::string_view bytes);

// `bytes` must outlive the result.
absl::StatusOr<ElfObject> ParseElfObject(absl::string_view bytes);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_ELF_H_
