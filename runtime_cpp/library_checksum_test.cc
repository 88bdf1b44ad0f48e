// SPDX-License-Identifier: Apache-2.0
#include "runtime_cpp/library_checksum.h"

#include <fstream>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime_cpp/checksum.h"

namespace kiln::runtime {
namespace {

using ::testing::HasSubstr;

std::string Sample(size_t size) {
  std::string bytes;
  for (size_t i = 0; i < size; ++i) bytes.push_back(static_cast<char>((i * 31 + 7) % 251));
  return bytes;
}

uint64_t HashOf(absl::string_view bytes) {
  Xxh64 hash;
  hash.Add(bytes);
  return hash.Value();
}

// What xxhsum -H64 says.
TEST(Xxh64, IsThatOfOtherTools) {
  const struct {
    size_t size;
    uint64_t hash;
  } kCases[] = {{0, 0xef46db3751d8e999},   {1, 0xa96c7f0ce858bbb7},   {3, 0x56e6957632a487f9},
                {4, 0xc60d15b1e3ff8f04},   {8, 0x3da5c7aa269683e0},   {31, 0x3391303d485e846e},
                {32, 0x40b7aff75d45bbc8},  {33, 0x4997cae4951c17a5},  {63, 0x2944b4dafc69b206},
                {100, 0xf0b29a915621716d}, {1000, 0x9e3300c1cde3c58d}};
  for (const auto& c : kCases) EXPECT_EQ(HashOf(Sample(c.size)), c.hash) << c.size;
}

TEST(Xxh64, TakesBytesInAnyParts) {
  const std::string bytes = Sample(100);
  for (size_t first = 0; first <= bytes.size(); ++first) {
    for (size_t second = first; second <= bytes.size(); ++second) {
      Xxh64 hash;
      hash.Add(bytes.substr(0, first));
      hash.Add(bytes.substr(first, second - first));
      hash.Add(bytes.substr(second));
      ASSERT_EQ(hash.Value(), 0xf0b29a915621716d) << first << " " << second;
    }
  }
}

absl::Status Check(absl::string_view bytes) {
  const std::string path = ::testing::TempDir() + "/a.so";
  std::ofstream(path, std::ios::binary)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return CheckLibraryChecksum(path);
}

std::string WithChecksum(std::string bytes) {
  AppendLibraryChecksum(bytes);
  return bytes;
}

TEST(LibraryChecksum, IsOfTheBytesBefore) {
  EXPECT_EQ(WithChecksum(Sample(3)), Sample(3) + std::string("KILNXXH\x01"
                                                             "\x03\0\0\0\0\0\0\0"
                                                             "\xf9\x87\xa4\x32\x76\x95\xe6\x56",
                                                             24));
  // Of more than one block of a reader.
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
              HasSubstr("a.so: found the checksum 86d835963a0ded11, wanted 56e6957632a487f9: the "
                        "file is damaged, or was changed after the compiler had written it"));
  EXPECT_THAT(std::string(Check(WithChecksum(Sample(3)).insert(0, 1, 'x')).message()),
              HasSubstr("a.so: found 4 bytes before its checksum, wanted 3: "));
}

TEST(LibraryChecksum, MayBeMissing) {
  for (const size_t size : {0, 3, 23, 24, 1000}) EXPECT_TRUE(Check(Sample(size)).ok()) << size;
  EXPECT_TRUE(absl::IsNotFound(CheckLibraryChecksum(::testing::TempDir() + "/missing.so")));
}

}  // namespace
}  // namespace kiln::runtime
