// SPDX-License-Identifier: Apache-2.0
// What `sha256sum` says of the same bytes.
#include "mlf/sha256.h"

#include <string>

#include "gtest/gtest.h"

namespace kiln::mlf {
namespace {

std::string Sample(size_t size) {
  std::string bytes;
  for (size_t i = 0; i < size; ++i) bytes.push_back(static_cast<char>((i * 31 + 7) % 251));
  return bytes;
}

// Around the sizes at which the padding takes another block.
TEST(Sha256, IsThatOfOtherTools) {
  EXPECT_EQ(Sha256(Sample(0)), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256(Sample(1)), "ca358758f6d27e6cf45272937977a748fd88391db679ceda7dc7bf1f005ee879");
  EXPECT_EQ(Sha256(Sample(55)), "e40272620990d5f772101e014a0fe168d9ab13215739a04bdcb4b9cadc303c75");
  EXPECT_EQ(Sha256(Sample(56)), "5b3154594d65c2a11e797576e2b4ece47f48373d8acfc0ae2cc3b87ca7adaedc");
  EXPECT_EQ(Sha256(Sample(63)), "2caeed71c024d190f2f9633bdac2b8f283b1cb86dfe7709023ab70f11f747a1b");
  EXPECT_EQ(Sha256(Sample(64)), "3483dc12a3fea6618642162f88124ea56e797597a97483d5ba597a42d98aaf6b");
  EXPECT_EQ(Sha256(Sample(65)), "3a513663aae909c328f43e2d74265dc5ec35495c99dfde7b8f9dd37f297dfa40");
  EXPECT_EQ(Sha256(Sample(119)),
            "c06b1fcfb8d206bb4fe8e8cde10de7af236f619ff29c720de0083f7377491fd9");
  EXPECT_EQ(Sha256(Sample(120)),
            "f425d2567f5c636c99335e5e8bb04669475b3b8b6f7523bbabbd11115cef8550");
  EXPECT_EQ(Sha256(Sample(128)),
            "43a42610c7b657d1ce21bf0255e86be7ea01aa9dddf0701f596e99a4c6f61001");
  EXPECT_EQ(Sha256(Sample(1000)),
            "008549d94fa71e7a0a483d84380d05a923a4b18e79ba1f8a8ddac923956d32ef");
}

}  // namespace
}  // namespace kiln::mlf
