// SPDX-License-Identifier: Apache-2.0
#include "compiler/base/sha256.h"

#include <cstdlib>
#include <fstream>

#include "gtest/gtest.h"

namespace kiln {
namespace {

// FIPS 180-4's examples, as NIST publishes them.
constexpr char kOfNothing[] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
constexpr char kOfAbc[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
constexpr char kOfMillionA[] = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";

TEST(Sha256, ExamplesOfTheStandard) {
  EXPECT_EQ(Sha256(""), kOfNothing);
  EXPECT_EQ(Sha256("abc"), kOfAbc);
  EXPECT_EQ(Sha256(std::string(1000000, 'a')), kOfMillionA);
}

TEST(Sha256, OfFiles) {
  const std::string path = std::string(std::getenv("TEST_TMPDIR")) + "/file";
  std::ofstream(path) << "";
  EXPECT_EQ(Sha256OfFile(path).value(), kOfNothing);
  // A file of more than one piece.
  std::ofstream(path) << std::string(3 << 20, 'a');
  EXPECT_EQ(Sha256OfFile(path).value(), Sha256(std::string(3 << 20, 'a')));
  const absl::StatusOr<std::string> absent = Sha256OfFile(path + ".absent");
  EXPECT_EQ(absent.status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(absent.status().message(), path + ".absent: cannot be read");
  EXPECT_FALSE(Sha256OfFile(std::getenv("TEST_TMPDIR")).ok());
}

}  // namespace
}  // namespace kiln
