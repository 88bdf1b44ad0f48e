// SPDX-License-Identifier: Apache-2.0
#include "mlf/tar.h"

#include <cstdio>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kiln::mlf {
namespace {

using ::testing::HasSubstr;

constexpr size_t kBlock = 512;

// Returns one header block with the fields of POSIX 1988.
std::string Header(const std::string& path, size_t size, char type = '0',
                   const std::string& link = "") {
  std::string block(kBlock, '\0');
  const auto put = [&](size_t offset, const std::string& text) {
    block.replace(offset, text.size(), text);
  };
  char octal[16];
  put(0, path);
  put(100, "0000644");
  put(108, "0000000");
  put(116, "0000000");
  std::snprintf(octal, sizeof(octal), "%011zo", size);
  put(124, octal);
  put(136, "00000000000");
  put(148, "        ");
  block[156] = type;
  put(157, link);
  put(257, std::string("ustar\00000", 8));
  unsigned sum = 0;
  for (const char c : block) sum += static_cast<unsigned char>(c);
  std::snprintf(octal, sizeof(octal), "%06o", sum);
  put(148, std::string(octal, 7));
  return block;
}

std::string File(const std::string& path, std::string bytes) {
  const size_t size = bytes.size();
  bytes.resize((size + kBlock - 1) / kBlock * kBlock, '\0');
  return Header(path, size) + bytes;
}

std::string Archive(const std::string& members) { return members + std::string(2 * kBlock, '\0'); }

std::string ErrorOf(const std::string& bytes) {
  const absl::StatusOr<Artifacts> files = UnpackTar(bytes, "a.tar");
  if (files.ok()) return "";
  EXPECT_TRUE(absl::IsInvalidArgument(files.status())) << files.status();
  EXPECT_TRUE(absl::StartsWith(files.status().message(), "a.tar: ")) << files.status();
  return std::string(files.status().message());
}

TEST(Tar, GivesBackWhatWentIn) {
  const Artifacts files = {
      {"a/b.c", "text\n"},
      {"empty", ""},
      {"metadata.json", std::string(2000, 'x')},
      {"zeros", std::string(4096, '\0')},
      {absl::StrCat(std::string(150, 'l'), "/", std::string(120, 'o'), ".h"), "long"}};
  const std::string bytes = PackTar(files, 0).value();
  EXPECT_EQ(bytes.size() % kBlock, 0u);
  EXPECT_EQ(UnpackTar(bytes, "").value(), files);
}

TEST(Tar, SameFilesSameBytes) {
  const Artifacts files = {{"a", "1"}, {std::string(150, 'n'), "2"}};
  EXPECT_EQ(PackTar(files, 77).value(), PackTar(files, 77).value());
  EXPECT_NE(PackTar(files, 77).value(), PackTar(files, 78).value());
}

TEST(Tar, MembersBelongToRootAndBeginWithADot) {
  const std::string bytes = PackTar({{"a", "1"}}, 0).value();
  EXPECT_EQ(bytes.substr(0, 4), std::string("./a\0", 4));
  EXPECT_EQ(bytes.substr(100, 7), "000644 ");
  EXPECT_EQ(bytes.substr(108, 7), "000000 ");
  EXPECT_EQ(bytes.substr(116, 7), "000000 ");
  EXPECT_EQ(bytes.substr(136, 11), "00000000000");
  EXPECT_EQ(bytes.substr(265, 5), std::string("root\0", 5));
  EXPECT_EQ(bytes.substr(297, 5), std::string("root\0", 5));
}

TEST(Tar, ReadsArchivesOfOtherPrograms) {
  const std::string bytes = Archive(Header("./", 0, '5') + Header("./d/", 0, '5') +
                                    File("./d/one", "1") + File("two", "22"));
  EXPECT_EQ(UnpackTar(bytes, "").value(), (Artifacts{{"d/one", "1"}, {"two", "22"}}));
  // The tar program pads archives to whole records by default.
  EXPECT_EQ(ErrorOf(bytes + std::string(20 * kBlock, '\0')), "");
}

TEST(Tar, RefusesPathsThatLeaveTheFolder) {
  for (const char* const path :
       {"../a", "./../a", "a/../../b", "/etc/passwd", "a/..", "a//b", "a/./b", "..", "./a/.."}) {
    EXPECT_THAT(ErrorOf(Archive(File(path, "1"))), HasSubstr("leaves the folder")) << path;
  }
  EXPECT_THAT(ErrorOf(Archive(Header("../d/", 0, '5'))), HasSubstr("leaves the folder"));
}

TEST(Tar, RefusesWhatIsNoFile) {
  EXPECT_THAT(ErrorOf(Archive(Header("a", 0, '2', "/etc"))), HasSubstr("'a' is a link"));
  EXPECT_THAT(ErrorOf(Archive(File("a", "1") + Header("b", 0, '1', "a"))),
              HasSubstr("'b' is a link"));
  EXPECT_THAT(ErrorOf(Archive(Header("a", 0, '6'))), HasSubstr("special file"));
  EXPECT_THAT(ErrorOf(Archive(Header("a", 0, '3'))), HasSubstr("special file"));
}

TEST(Tar, RefusesMembersThatComeTwice) {
  EXPECT_THAT(ErrorOf(Archive(File("a", "1") + File("./a", "2"))), HasSubstr("'a' comes twice"));
}

TEST(Tar, RefusesSizesThatAreNotThere) {
  EXPECT_THAT(ErrorOf(Archive(Header("a", 077777777777))), HasSubstr("claims 8589934591 bytes"));
  EXPECT_THAT(ErrorOf(Archive(Header("a", 1300))), HasSubstr("a.tar: "));
}

TEST(Tar, RefusesForeignBytes) {
  EXPECT_THAT(ErrorOf(""), HasSubstr("not a tar archive"));
  EXPECT_THAT(ErrorOf("PK\3\4"), HasSubstr("not a tar archive"));
  EXPECT_THAT(ErrorOf(std::string(4096, '\0')), HasSubstr("not a tar archive"));
  EXPECT_THAT(ErrorOf("\x1f\x8b" + std::string(4096, 'z')), HasSubstr("not a tar archive"));
}

TEST(Tar, RefusesAnythingBehindTheEnd) {
  const std::string bytes = Archive(File("a", "1"));
  EXPECT_THAT(ErrorOf(bytes + "x"), HasSubstr("behind its end"));
  EXPECT_THAT(ErrorOf(bytes + File("b", "2")), HasSubstr("behind its end"));
  EXPECT_THAT(ErrorOf(bytes.substr(0, bytes.size() - 1)), HasSubstr("cut off"));
  EXPECT_THAT(ErrorOf(bytes.substr(0, bytes.size() - kBlock)), HasSubstr("cut off"));
}

}  // namespace
}  // namespace kiln::mlf
