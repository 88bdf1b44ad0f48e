// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/library_metadata.h"

#include <elf.h>

#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kiln/library_notes.h"
#include "metadata/json.h"
#include "metadata/library_notes.h"
#include "metadata/version.h"

namespace kiln::tools {
namespace {

using ::testing::HasSubstr;

proto::Metadata Small() {
  proto::Metadata metadata;
  metadata.set_version(kMetadataVersion);
  metadata.set_module_name("small");
  metadata.set_executor("aot");
  metadata.set_runtime("cpp");
  metadata.set_interface_api("packed");
  metadata.set_target("host");
  metadata.set_cpu("x86-64-v3");
  metadata.add_cpu_features("avx2");
  metadata.add_functions()->set_name("tvmgen_small___tvm_main__");
  return metadata;
}

template <typename T>
void Append(const T& value, std::string& out) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

// Returns a shared object that contains only notes.
std::string Library(const std::string& notes, uint16_t machine = EM_X86_64,
                    uint64_t alignment = 4) {
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_DYN;
  header.e_machine = machine;
  header.e_version = EV_CURRENT;
  header.e_phoff = sizeof(header);
  header.e_ehsize = sizeof(header);
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 1;
  header.e_shentsize = sizeof(Elf64_Shdr);
  Elf64_Phdr segment = {};
  segment.p_type = PT_NOTE;
  segment.p_offset = sizeof(header) + sizeof(segment);
  segment.p_filesz = segment.p_memsz = notes.size();
  segment.p_align = alignment;
  std::string bytes;
  Append(header, bytes);
  Append(segment, bytes);
  return bytes + notes;
}

std::string Error(const std::string& bytes) {
  const absl::Status status = ReadLibraryMetadata(bytes, "m.so").status();
  EXPECT_FALSE(status.ok());
  return std::string(status.message());
}

TEST(LibraryMetadata, IsThatOfTheNote) {
  for (const uint16_t machine : {EM_X86_64, EM_AARCH64, EM_RISCV}) {
    const auto metadata = ReadLibraryMetadata(Library(LibraryNotes(Small()), machine), "m.so");
    ASSERT_TRUE(metadata.ok()) << metadata.status();
    EXPECT_EQ(MetadataJson(*metadata), MetadataJson(Small()));
  }
}

// Some linkers add notes of the system. They align the segment and the notes in it to 8 bytes.
TEST(LibraryMetadata, IsThatOfANoteThatIsAlignedTo8) {
  const std::string owner(KILN_NOTE_OWNER, sizeof(KILN_NOTE_OWNER));
  const std::string json = MetadataJson(Small());
  std::string notes;
  for (const uint32_t type : {KILN_NOTE_METADATA + 100u, uint32_t{KILN_NOTE_METADATA}}) {
    Append(static_cast<uint32_t>(owner.size()), notes);
    Append(static_cast<uint32_t>(json.size()), notes);
    Append(type, notes);
    for (const std::string& part : {owner, json}) {
      notes += part;
      notes.resize((notes.size() + 7) / 8 * 8);
    }
  }
  const auto metadata = ReadLibraryMetadata(Library(notes, EM_X86_64, 8), "m.so");
  ASSERT_TRUE(metadata.ok()) << metadata.status();
  EXPECT_EQ(MetadataJson(*metadata), json);
}

TEST(LibraryMetadata, ASegmentAfterTheEndIsAnError) {
  std::string bytes = Library(LibraryNotes(Small()));
  Elf64_Phdr segment;
  std::memcpy(&segment, bytes.data() + sizeof(Elf64_Ehdr), sizeof(segment));
  segment.p_offset = ~uint64_t{0};
  std::memcpy(bytes.data() + sizeof(Elf64_Ehdr), &segment, sizeof(segment));
  EXPECT_EQ(Error(bytes), absl::StrCat("m.so: is cut off after ", bytes.size(),
                                       " bytes of at least 18446744073709551615"));
}

TEST(LibraryMetadata, NotesOfOthersAreSkipped) {
  const std::string notes = LibraryNotes(Small());
  std::string others = notes;
  const std::string owner(KILN_NOTE_OWNER, sizeof(KILN_NOTE_OWNER));
  for (size_t at = others.find(owner); at != std::string::npos; at = others.find(owner, at)) {
    others[at] = 'G';
  }
  EXPECT_TRUE(ReadLibraryMetadata(Library(others + notes), "m.so").ok());
  EXPECT_THAT(Error(Library(others)), HasSubstr("m.so: is a shared object without a note"));
  EXPECT_THAT(Error(Library("")), HasSubstr("add --load"));
  EXPECT_EQ(Error(Library(notes + notes)), "m.so: found 2 notes of metadata, wanted one");
}

TEST(LibraryMetadata, VersionsAreThoseOfTheJson) {
  proto::Metadata metadata = Small();
  metadata.set_version(kMetadataVersion + 1);
  EXPECT_THAT(Error(Library(LibraryNotes(metadata))), HasSubstr("use a newer Kiln"));
  metadata.set_version(kOldestMetadataVersion);
  EXPECT_TRUE(ReadLibraryMetadata(Library(LibraryNotes(metadata)), "m.so").ok());
}

TEST(LibraryMetadata, OtherFilesAreRefused) {
  std::string bytes = Library(LibraryNotes(Small()));
  bytes[offsetof(Elf64_Ehdr, e_type)] = ET_EXEC;
  EXPECT_THAT(Error(bytes),
              HasSubstr("m.so: is a program; for a firmware image wanted --emulator"));
  bytes[offsetof(Elf64_Ehdr, e_type)] = ET_CORE;
  EXPECT_EQ(Error(bytes), "m.so: is an ELF file, but no shared object");
  bytes = Library(LibraryNotes(Small()));
  bytes[EI_DATA] = ELFDATA2MSB;
  EXPECT_FALSE(ReadLibraryMetadata(bytes, "m.so").ok());
  EXPECT_THAT(Error("text"), HasSubstr("m.so: its ELF header is damaged"));
  EXPECT_THAT(Error(""), HasSubstr("m.so: its ELF header is damaged"));
}

TEST(LibraryMetadata, SurvivesEveryTruncationAndEveryFlippedBit) {
  const std::string bytes = Library(LibraryNotes(Small()));
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(ReadLibraryMetadata(bytes.substr(0, size), "m.so").ok()) << size;
  }
  size_t errors = 0;
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    errors += ReadLibraryMetadata(flipped, "m.so").ok() ? 0 : 1;
  }
  EXPECT_GT(errors, 1000u);
}

}  // namespace
}  // namespace kiln::tools
