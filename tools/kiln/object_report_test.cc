// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/object_report.h"

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace kiln::tools {
namespace {

std::string Object() {
  std::ifstream file("tools/kiln/object_report_test.o", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST(ObjectReport, AddsUpSectionsAndTheDeepestCalls) {
  const absl::StatusOr<ObjectFigures> figures = MeasureObject(Object(), {});
  ASSERT_TRUE(figures.ok()) << figures.status();
  // Two functions of 6 bytes, and the constants.
  EXPECT_EQ(figures->flash_bytes, 112);
  EXPECT_EQ(figures->ram_bytes, 24);
  EXPECT_EQ(figures->stack_bytes, 240);
  EXPECT_EQ(figures->deepest_calls, (std::vector<std::string>{"model", "layer"}));
  EXPECT_EQ(figures->calls, std::vector<std::string>{"memcpy"});
  EXPECT_NE(ObjectText(*figures).find("stack: 240 bytes in model, layer\ncalls: memcpy\n"),
            std::string::npos);
  EXPECT_NE(ObjectJson(*figures).find("\"stack_bytes\": 240"), std::string::npos);
}

TEST(ObjectReport, FramesOfGccComeFromAFile) {
  const auto usage =
      ParseStackUsage("a.c:3:7:layer\t8\tstatic\na.c:9:5:other\t16\tdynamic\n", "a.su");
  EXPECT_EQ(*usage, (std::map<std::string, int64_t>{{"layer", 8}}));
  for (const char* line : {"nonsense", "a.c:1:1:model\tx\tstatic", "a.c:1:1:model\t-1\tstatic"}) {
    const auto damaged = ParseStackUsage(absl::StrCat("a.c:3:7:layer\t8\tstatic\n", line), "a.su");
    EXPECT_EQ(damaged.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_TRUE(absl::StartsWith(damaged.status().message(), "a.su:2: found '"));
  }
}

// gcc folds equal functions into one with several names, and numbers its copies of functions.
TEST(ObjectReport, CodeWithSeveralNamesHasOneFrame) {
  std::ifstream file("tools/kiln/folded_functions_test.o", std::ios::binary);
  const std::string object{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const absl::StatusOr<ObjectFigures> figures =
      MeasureObject(object, {{"layer", 200}, {"other.constprop", 300}, {"model", 40}});
  ASSERT_TRUE(figures.ok()) << figures.status();
  EXPECT_EQ(figures->stack_bytes, 340);
  EXPECT_EQ(figures->deepest_calls, (std::vector<std::string>{"model", "other.constprop.0"}));
  EXPECT_EQ(figures->stack_of.at("layer"), 200);
}

TEST(ObjectReport, SaysWhatItDoesNotKnow) {
  std::string object = Object();
  // Without the section, the stack is unknown.
  const size_t at = object.find(".stack_sizes");
  ASSERT_NE(at, std::string::npos);
  for (size_t name = at; name != std::string::npos; name = object.find(".stack_sizes", name + 1)) {
    object[name + 1] = 'x';
  }
  const absl::StatusOr<ObjectFigures> figures = MeasureObject(object, {{"model", 40}});
  ASSERT_TRUE(figures.ok()) << figures.status();
  EXPECT_FALSE(figures->stack_bytes);
  EXPECT_NE(ObjectText(*figures).find("stack: not known"), std::string::npos);
  EXPECT_NE(ObjectJson(*figures).find("\"stack_bytes\": null"), std::string::npos);
}

// libelf itself accepts some of these files.
TEST(ObjectReport, SaysHowAnObjectIsDamaged) {
  const std::string object = Object();
  const auto error_of = [](const std::string& bytes) {
    return std::string(MeasureObject(bytes, {}).status().message());
  };
  EXPECT_EQ(error_of(object.substr(0, sizeof(Elf32_Ehdr) - 1)),
            "the object cannot be read: its ELF header is damaged or cut off: invalid ELF file "
            "data");
  for (const size_t size : {sizeof(Elf32_Ehdr), object.size() - 1}) {
    EXPECT_EQ(error_of(object.substr(0, size)),
              "the object is damaged: its table of sections is cut off");
  }
  struct Change {
    size_t at;
    int byte;
    const char* error;
  };
  Elf32_Ehdr header;
  std::memcpy(&header, object.data(), sizeof(header));
  const auto section_of_type = [&](uint32_t type) {
    for (size_t i = 0; i < header.e_shnum; ++i) {
      const size_t at = header.e_shoff + i * sizeof(Elf32_Shdr);
      Elf32_Shdr section;
      std::memcpy(&section, object.data() + at, sizeof(section));
      if (section.sh_type == type) return at;
    }
    return size_t{0};
  };
  const size_t symbols = section_of_type(SHT_SYMTAB), relocations = section_of_type(SHT_REL);
  ASSERT_NE(symbols, 0u);
  ASSERT_NE(relocations, 0u);
  for (const Change& change : std::vector<Change>{
           {EI_DATA, ELFDATA2MSB,
            "the object cannot be read: it is big endian; only little endian is known"},
           {EI_CLASS, 3, "the object cannot be read: its ELF header is damaged or cut off"},
           {offsetof(Elf32_Ehdr, e_shoff) + 3, 0x7f,
            "the object is damaged: its table of sections is cut off"},
           {offsetof(Elf32_Ehdr, e_shnum), 200,
            "the object is damaged: its table of sections is cut off"},
           {offsetof(Elf32_Ehdr, e_shstrndx), 200,
            "the object is damaged: its sections have no names"},
           {symbols + offsetof(Elf32_Shdr, sh_size) + 2, 1,
            "the object is damaged: a section is cut off"},
           {symbols + offsetof(Elf32_Shdr, sh_link), 100,
            "the object is damaged: its symbols have no names"},
           {relocations + offsetof(Elf32_Shdr, sh_info), 100,
            "the object is damaged: relocations belong to no section"},
       }) {
    std::string damaged = object;
    damaged[change.at] = static_cast<char>(change.byte);
    EXPECT_EQ(error_of(damaged), change.error) << change.at;
  }
}

// A damaged object gives an error or other figures, but never a crash.
TEST(ObjectReport, SurvivesEveryTruncationAndEveryFlippedBit) {
  const std::string object = Object();
  ASSERT_GT(object.size(), 500u);
  for (size_t size = 0; size < object.size(); ++size) {
    const absl::StatusOr<ObjectFigures> figures = MeasureObject(object.substr(0, size), {});
    if (figures.ok()) ObjectText(*figures);
  }
  size_t errors = 0;
  for (size_t bit = 0; bit < object.size() * 8; ++bit) {
    std::string damaged = object;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    const absl::StatusOr<ObjectFigures> figures = MeasureObject(damaged, {});
    if (figures.ok()) {
      ObjectJson(*figures);
    } else {
      ++errors;
    }
  }
  EXPECT_GT(errors, 0u);
  EXPECT_EQ(MeasureObject("no object", {}).status().message(), "found no relocatable ELF object");
}

}  // namespace
}  // namespace kiln::tools
