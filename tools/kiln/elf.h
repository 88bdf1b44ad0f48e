// SPDX-License-Identifier: Apache-2.0
// Tables of a relocatable ELF object (.o) with 32 or 64 bits, little endian: the parts that are
// needed to count its bytes and to follow its calls. An object is untrusted. An inconsistent object
// is an error.
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

// The first bytes of every ELF file.
inline constexpr absl::string_view kElfMagic = "\x7f\x45LF";
inline constexpr uint16_t kElfMachineArm = 40;

struct ElfSection {
  std::string name;
  uint64_t flags = 0;
  uint64_t size_bytes = 0;
  absl::string_view contents;  // empty if the file has no bytes for the section

  bool in_memory() const { return (flags & 2) != 0; }  // SHF_ALLOC
  bool writable() const { return (flags & 1) != 0; }   // SHF_WRITE
};

struct ElfSymbol {
  std::string name;
  uint64_t value = 0;  // offset in its section; for a function without Thumb's bit
  uint64_t size_bytes = 0;
  uint32_t section = 0;  // 0: undefined in this object
  bool is_function = false;
};

struct ElfRelocation {
  uint32_t section = 0;  // the section that contains the reference
  uint64_t offset = 0;   // position of the reference in it
  uint32_t symbol = 0;
  int64_t addend = 0;  // 0 if the addend is in the contents
};

struct ElfObject {
  uint16_t machine = 0;
  int address_bytes = 4;
  std::vector<ElfSection> sections;
  std::vector<ElfSymbol> symbols;
  std::vector<ElfRelocation> relocations;  // their sections and symbols exist
};

// True if `bytes` begin like a relocatable object.
bool IsElfObject(absl::string_view bytes);

// Parses an object. `bytes` must outlive the result.
absl::StatusOr<ElfObject> ParseElfObject(absl::string_view bytes);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_ELF_H_
