// SPDX-License-Identifier: Apache-2.0
#include "compiler/base/identifier.h"

#include "gtest/gtest.h"

namespace kiln {
namespace {

TEST(Identifier, IsWhatCTakes) {
  for (const char* text : {"a", "_", "Model_7", "__x"}) EXPECT_TRUE(IsIdentifier(text)) << text;
  for (const char* text : {"", "7a", "a-b", "a b", "a.b", "\xc3\xa4"}) {
    EXPECT_FALSE(IsIdentifier(text)) << text;
  }
}

TEST(Identifier, WhatNoneHasBecomesAnUnderscore) {
  EXPECT_EQ(WithIdentifierCharacters("x86-64.v3_\xc3"), "x86_64_v3__");
  EXPECT_EQ(WithIdentifierCharacters("7a"), "7a");
  EXPECT_EQ(WithIdentifierCharacters(""), "");
}

}  // namespace
}  // namespace kiln
