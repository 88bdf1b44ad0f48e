// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/npy.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace kiln::tools {
namespace {

// Returns a file of the given version of the format.
std::string File(int version, const std::string& descr, bool fortran, const std::string& shape,
                 const std::string& data) {
  const std::string header =
      absl::StrCat("{'descr': '", descr, "', 'fortran_order': ", fortran ? "True" : "False",
                   ", 'shape': ", shape, "}\n");
  std::string bytes = "\x93NUMPY";
  bytes += {static_cast<char>(version), 0, static_cast<char>(header.size()), 0};
  if (version > 1) bytes += {0, 0};
  return bytes + header + data;
}

Tensor Parsed(const std::string& bytes) {
  const absl::StatusOr<Tensor> tensor = ParseNpy(bytes);
  EXPECT_TRUE(tensor.ok()) << tensor.status();
  return tensor.ok() ? *tensor : Tensor();
}

std::string ErrorOf(const std::string& bytes) {
  return std::string(ParseNpy(bytes).status().message());
}

TEST(Npy, IsReadAsItIsWritten) {
  const Tensor tensor = Tensor::From<int16_t>({2, 3}, DType::Int(16), {1, 2, 3, 4, 5, 6});
  EXPECT_TRUE(Parsed(ToNpy(tensor)) == tensor);
}

TEST(Npy, HasThreeVersions) {
  for (const int version : {1, 2, 3}) {
    EXPECT_EQ(Parsed(File(version, "|i1", false, "(3,)", "abc")).bytes(), "abc") << version;
  }
  EXPECT_EQ(ErrorOf(File(4, "|i1", false, "(3,)", "abc")), "found version 4, wanted 1 to 3");
}

TEST(Npy, IsReadInBothByteOrders) {
  const std::string data("\x01\x02\x03\x04", 4);
  EXPECT_EQ(Parsed(File(1, "<u2", false, "(2,)", data)).ToInts(),
            (std::vector<int64_t>{0x0201, 0x0403}));
  EXPECT_EQ(Parsed(File(1, ">u2", false, "(2,)", data)).ToInts(),
            (std::vector<int64_t>{0x0102, 0x0304}));
  EXPECT_EQ(ErrorOf(File(1, ">c8", false, "(1,)", data)), "element type '>c8' is not supported");
  EXPECT_EQ(ErrorOf(File(1, "", false, "(1,)", data)), "element type '' is not supported");
}

TEST(Npy, IsReadInFortransOrder) {
  // [[a b c] [d e f]], the first index fastest.
  const Tensor matrix = Parsed(File(1, "|u1", true, "(2, 3)", "adbecf"));
  EXPECT_EQ(matrix.bytes(), "abcdef");
  EXPECT_EQ(matrix.type().shape, (Shape{2, 3}));
  EXPECT_EQ(Parsed(File(1, "|u1", true, "(2, 2, 2)", "aecgbfdh")).bytes(), "abcdefgh");
  EXPECT_EQ(Parsed(File(1, "|u1", true, "(3,)", "abc")).bytes(), "abc");
  EXPECT_EQ(Parsed(File(1, "|u1", true, "()", "a")).bytes(), "a");
  EXPECT_EQ(Parsed(File(1, "|u1", true, "(0, 2)", "")).bytes(), "");
  EXPECT_EQ(Parsed(File(1, ">i2", true, "(2, 1)", std::string("\0\1\0\2", 4))).ToInts(),
            (std::vector<int64_t>{1, 2}));
}

TEST(Npy, ThatIsDamagedIsRefused) {
  EXPECT_EQ(ErrorOf("npy"), "not a .npy file");
  const std::string good = File(2, "|i1", false, "(3,)", "abc");
  EXPECT_EQ(ErrorOf(good.substr(0, 11)), "the file is cut off in its header");
  EXPECT_EQ(ErrorOf(good.substr(0, 20)), "the file is cut off in its header");
  EXPECT_EQ(ErrorOf(good.substr(0, good.size() - 1)), "found 2 bytes of data, wanted 3");
}

}  // namespace
}  // namespace kiln::tools
