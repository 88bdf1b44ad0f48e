// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/elf.h"

#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"

namespace kiln::tools {
namespace {

// Numbers of the ELF specification.
constexpr size_t kClassAt = 4, kDataAt = 5, kTypeAt = 16, kMachineAt = 18;
constexpr uint8_t kClass64 = 2, kLittleEndian = 1;
constexpr uint16_t kRelocatable = 1;
constexpr uint32_t kSymbolTable = 2, kRelocationsWithAddend = 4, kNoBits = 8, kRelocations = 9;
constexpr uint8_t kFunction = 2;
constexpr uint32_t kFirstReservedSection = 0xff00;

// Where fields lie, which depends on the width of addresses.
struct Layout {
  bool wide;
  size_t header_bytes() const { return wide ? 64 : 52; }
  size_t section_bytes() const { return wide ? 64 : 40; }
  size_t symbol_bytes() const { return wide ? 24 : 16; }
  size_t relocation_bytes(bool addend) const { return (wide ? 16 : 8) + (addend ? word() : 0); }
  size_t word() const { return wide ? 8 : 4; }
};

uint64_t ReadAt(absl::string_view bytes, size_t at, size_t size) {
  uint64_t value = 0;
  if (at > bytes.size() || size > bytes.size() - at) return 0;
  for (size_t i = size; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

std::optional<absl::string_view> Slice(absl::string_view bytes, uint64_t at, uint64_t size) {
  if (at > bytes.size() || size > bytes.size() - at) return std::nullopt;
  return bytes.substr(at, size);
}

// The text at `at` of a table of strings, up to its NUL.
std::string StringAt(absl::string_view table, uint64_t at) {
  if (at >= table.size()) return "";
  const absl::string_view rest = table.substr(at);
  return std::string(rest.substr(0, rest.find('\0')));
}

absl::Status Damaged(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("the object is damaged: ", what));
}

class Parser {
 public:
  explicit Parser(absl::string_view bytes)
      : bytes_(bytes), layout_{ReadAt(bytes, kClassAt, 1) == kClass64} {}

  absl::StatusOr<ElfObject> Parse() {
    if (bytes_.size() < layout_.header_bytes()) return Damaged("its header is cut off");
    if (ReadAt(bytes_, kDataAt, 1) != kLittleEndian) {
      return absl::UnimplementedError("the object is big endian; only little endian is known");
    }
    object_.machine = static_cast<uint16_t>(ReadAt(bytes_, kMachineAt, 2));
    object_.address_bytes = static_cast<int>(layout_.word());
    KILN_RETURN_IF_ERROR(ParseSections());
    // Relocations are checked against symbols, so these come first.
    for (const Header& header : headers_) {
      if (header.type == kSymbolTable) KILN_RETURN_IF_ERROR(ParseSymbols(header));
    }
    for (const Header& header : headers_) {
      if (header.type != kRelocations && header.type != kRelocationsWithAddend) continue;
      KILN_RETURN_IF_ERROR(ParseRelocations(header, header.type == kRelocationsWithAddend));
    }
    return std::move(object_);
  }

 private:
  struct Header {
    uint32_t type, link, info;
    absl::string_view contents;
  };

  uint64_t Word(size_t at) const { return ReadAt(bytes_, at, layout_.word()); }

  absl::Status ParseSections() {
    const bool wide = layout_.wide;
    const uint64_t table = Word(wide ? 40 : 32);
    const uint64_t count = ReadAt(bytes_, wide ? 60 : 48, 2);
    const uint64_t names = ReadAt(bytes_, wide ? 62 : 50, 2);
    if (!Slice(bytes_, table, count * layout_.section_bytes())) {
      return Damaged("its table of sections is cut off");
    }
    std::vector<uint64_t> name_offsets;
    for (uint64_t i = 0; i < count; ++i) {
      const size_t at = table + i * layout_.section_bytes();
      const auto field = [&](size_t narrow, size_t wide_at) {
        return Word(at + (wide ? wide_at : narrow));
      };
      ElfSection section;
      Header header;
      header.type = static_cast<uint32_t>(ReadAt(bytes_, at + 4, 4));
      section.flags = field(8, 8);
      section.size_bytes = field(20, 32);
      header.link = static_cast<uint32_t>(ReadAt(bytes_, at + (wide ? 40 : 24), 4));
      header.info = static_cast<uint32_t>(ReadAt(bytes_, at + (wide ? 44 : 28), 4));
      section.link = header.link;
      if (header.type != 0 && header.type != kNoBits) {
        const auto contents = Slice(bytes_, field(16, 24), section.size_bytes);
        if (!contents) return Damaged("a section is cut off");
        header.contents = section.contents = *contents;
      }
      name_offsets.push_back(ReadAt(bytes_, at, 4));
      object_.sections.push_back(std::move(section));
      headers_.push_back(header);
    }
    if (names >= count) return Damaged("its sections have no names");
    for (size_t i = 0; i < count; ++i) {
      object_.sections[i].name = StringAt(headers_[names].contents, name_offsets[i]);
    }
    return absl::OkStatus();
  }

  absl::Status ParseSymbols(const Header& table) {
    if (!object_.symbols.empty()) return Damaged("it has two tables of symbols");
    if (table.link >= headers_.size()) return Damaged("its symbols have no names");
    const bool wide = layout_.wide;
    const size_t size = layout_.symbol_bytes();
    for (size_t at = 0; at + size <= table.contents.size(); at += size) {
      const absl::string_view entry = table.contents.substr(at, size);
      ElfSymbol symbol;
      symbol.name = StringAt(headers_[table.link].contents, ReadAt(entry, 0, 4));
      symbol.value = ReadAt(entry, wide ? 8 : 4, layout_.word());
      symbol.size_bytes = ReadAt(entry, wide ? 16 : 8, layout_.word());
      symbol.is_function = (ReadAt(entry, wide ? 4 : 12, 1) & 15) == kFunction;
      symbol.section = static_cast<uint32_t>(ReadAt(entry, wide ? 6 : 14, 2));
      if (symbol.section < kFirstReservedSection && symbol.section >= headers_.size()) {
        return Damaged("a symbol lies in no section");
      }
      if (symbol.is_function && object_.machine == kElfMachineArm) symbol.value &= ~uint64_t{1};
      object_.symbols.push_back(std::move(symbol));
    }
    return absl::OkStatus();
  }

  absl::Status ParseRelocations(const Header& table, bool addend) {
    if (table.info >= headers_.size()) return Damaged("relocations belong to no section");
    const size_t word = layout_.word();
    const size_t size = layout_.relocation_bytes(addend);
    for (size_t at = 0; at + size <= table.contents.size(); at += size) {
      const absl::string_view entry = table.contents.substr(at, size);
      ElfRelocation relocation;
      relocation.section = table.info;
      relocation.offset = ReadAt(entry, 0, word);
      relocation.symbol =
          static_cast<uint32_t>(ReadAt(entry, word, word) >> (layout_.wide ? 32 : 8));
      if (relocation.symbol >= object_.symbols.size()) return Damaged("a relocation has no symbol");
      if (addend) {
        const uint64_t value = ReadAt(entry, 2 * word, word);
        relocation.addend = layout_.wide ? static_cast<int64_t>(value)
                                         : static_cast<int32_t>(static_cast<uint32_t>(value));
      }
      object_.relocations.push_back(relocation);
    }
    return absl::OkStatus();
  }

  const absl::string_view bytes_;
  const Layout layout_;
  ElfObject object_;
  std::vector<Header> headers_;
};

}  // namespace

bool IsElfObject(absl::string_view bytes) {
  return absl::StartsWith(bytes, kElfMagic) && ReadAt(bytes, kTypeAt, 2) == kRelocatable;
}

absl::StatusOr<ElfObject> ParseElfObject(absl::string_view bytes) {
  if (!IsElfObject(bytes)) {
    return absl::InvalidArgumentError("found no relocatable ELF object");
  }
  return Parser(bytes).Parse();
}

}  // namespace kiln::tools
