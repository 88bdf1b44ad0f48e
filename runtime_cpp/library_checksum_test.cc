// SPDX-License-Identifier: Apache-2.0
#include "runtime_cpp/library_checksum.h"

#include <fstream>
#include <iterator>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kiln::runtime {
namespace {

using ::testing::HasSubstr;

std::string Sample(size_t size) {
  std::string bytes;
  for (size_t i = 0; i < size; ++i) bytes.push_back(static_cast<char>((i * 31 + 7) % 251));
  return bytes;
}

absl::Status Check(absl::string_view bytes) {
  const std::string path = ::testing::TempDir() + "/a.so";
  std::ofstream(path, std::ios::binary)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  const absl::StatusOr<LibraryFile> file = LibraryFile::Open(path);
  return file.ok() ? CheckLibraryChecksum(*file).status() : file.status();
}

std::string WithChecksum(std::string bytes) {
  AppendLibraryChecksum(bytes);
  return bytes;
}

// The expected hashes are those of `xxhsum -H3`.
TEST(LibraryChecksum, IsOfTheBytesBefore) {
  EXPECT_EQ(WithChecksum(Sample(3)), Sample(3) + std::string("KILNXXH\x01"
                                                             "\x03\0\0\0\0\0\0\0"
                                                             "\x5c\x00\x3d\x17\x3b\x09\xf7\x15",
                                                             24));
  // The last sizes exceed one block of the reader.
  for (const size_t size : {size_t{0}, size_t{3}, size_t{1} << 20, (size_t{5} << 19) + 1}) {
    EXPECT_TRUE(Check(WithChecksum(Sample(size))).ok()) << size;
  }
}

TEST(LibraryChecksum, FindsEveryFlippedBit) {
  const std::string bytes = WithChecksum(Sample(100));
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ 1 << bit % 8);
    const absl::Status status = Check(flipped);
    EXPECT_TRUE(absl::IsDataLoss(status)) << bit;
    EXPECT_THAT(std::string(status.message()), HasSubstr("a.so: ")) << bit;
  }
}

TEST(LibraryChecksum, SaysWhatIsWrong) {
  std::string bytes = WithChecksum(Sample(3));
  bytes[0] = 'x';
  EXPECT_THAT(std::string(Check(bytes).message()),
              HasSubstr("a.so: found the checksum 4fe8f653dcde444d, wanted 15f7093b173d005c: the "
                        "file is damaged, or was changed after the compiler had written it"));
  EXPECT_THAT(std::string(Check(WithChecksum(Sample(3)).insert(0, 1, 'x')).message()),
              HasSubstr("a.so: found 4 bytes before its checksum, wanted 3: "));
}

TEST(LibraryChecksum, MayBeMissing) {
  for (const size_t size : {0, 3, 23, 24, 1000}) EXPECT_TRUE(Check(Sample(size)).ok()) << size;
}

std::string Library() {
  std::ifstream file("runtime_cpp/testdata/add_aot.so", std::ios::binary);
  return WithChecksum({std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()});
}

TEST(LibraryChecksum, IsMissedWhereItsMarkIs) {
  const std::string library = Library();
  EXPECT_TRUE(Check(library).ok());
  EXPECT_EQ(std::string(Check(library + "\n").message()),
            ::testing::TempDir() +
                "/a.so: its last bytes are no checksum, which it has been given: "
                "the file is damaged, or was changed after the compiler had written it");
  for (size_t bytes = 1; bytes <= kLibraryChecksumBytes; ++bytes) {
    EXPECT_TRUE(absl::IsDataLoss(Check(library.substr(0, library.size() - bytes)))) << bytes;
  }
  for (const size_t bytes : {1, 8, 24, 5000, 100000}) {
    EXPECT_TRUE(absl::IsDataLoss(Check(library + std::string(bytes, '\0')))) << bytes;
  }
}

// Combines a flipped bit at any position with one byte more or less.
TEST(LibraryChecksum, FindsAFlippedBitInAFileOfAnotherLength) {
  const std::string library = Library();
  const size_t near_end = library.size() - 4000;
  for (const std::string& other : {library + "\n", library.substr(0, library.size() - 1),
                                   library.substr(0, library.size() - kLibraryChecksumBytes)}) {
    for (size_t at = 4; at < other.size(); at += at < 64 ? 1 : at > near_end ? 5 : 131) {
      std::string flipped = other;
      flipped[at] = static_cast<char>(flipped[at] ^ 1 << at % 8);
      EXPECT_TRUE(absl::IsDataLoss(Check(flipped))) << at << " of " << other.size();
    }
  }
}

// A tool that rewrites the file copies only bytes that belong to a section.
TEST(LibraryChecksum, IsNotMissedWithoutItsMark) {
  std::string library = Library();
  library.resize(library.size() - kLibraryChecksumBytes);
  const std::string mark = absl::StrCat("KILN-CHECKSUM-01", "KILN-CHECKSUM-01");
  const size_t at = library.find(mark);
  ASSERT_NE(at, std::string::npos);
  library.replace(at, mark.size(), mark.size(), '\0');
  EXPECT_TRUE(Check(library).ok());
}

}  // namespace
}  // namespace kiln::runtime
