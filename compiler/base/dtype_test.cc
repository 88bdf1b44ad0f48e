// SPDX-License-Identifier: Apache-2.0
#include "compiler/base/dtype.h"

#include <limits>

#include "gtest/gtest.h"

namespace kiln {
namespace {

TEST(DType, PrintsAndParses) {
  for (const char* text : {"float16", "float32", "float64", "int8", "int16", "int32", "int64",
                           "uint8", "uint16", "uint32", "uint64", "bool"}) {
    absl::StatusOr<DType> dtype = DType::Parse(text);
    ASSERT_TRUE(dtype.ok()) << text;
    EXPECT_EQ(dtype->ToString(), text);
  }
  for (const char* text : {"", "float8", "int", "int128", "uint1", "Bool", "float32 "}) {
    EXPECT_FALSE(DType::Parse(text).ok()) << text;
  }
}

TEST(DType, Kinds) {
  EXPECT_TRUE(DType::UInt(8).is_integral());
  EXPECT_FALSE(DType::Bool().is_integral());
  EXPECT_EQ(DType::Bool().bytes(), 1);
  EXPECT_EQ(DType::Float(16).bytes(), 2);
}

TEST(DType, Ranges) {
  EXPECT_EQ(DType::Int(8).MinInt(), -128);
  EXPECT_EQ(DType::Int(8).MaxInt(), 127);
  EXPECT_EQ(DType::UInt(8).MinInt(), 0);
  EXPECT_EQ(DType::UInt(8).MaxInt(), 255);
  EXPECT_EQ(DType::UInt(32).MaxInt(), 4294967295);
  EXPECT_EQ(DType::UInt(64).MaxInt(), -1);
  EXPECT_EQ(DType::Int(64).MinInt(), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(DType::Bool().MaxInt(), 1);
}

}  // namespace
}  // namespace kiln
