// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/attrs.h"

#include <limits>

#include "gtest/gtest.h"

namespace kiln {
namespace {

TEST(AttrValue, PrintsAsRelay) {
  EXPECT_EQ(AttrValue::None().ToString(), "None");
  EXPECT_EQ(AttrValue(true).ToString(), "True");
  EXPECT_EQ(AttrValue(-3).ToString(), "-3");
  EXPECT_EQ(AttrValue(0.25).ToString(), "0.25f");
  EXPECT_EQ(AttrValue(3.0).ToString(), "3f");
  EXPECT_EQ(AttrValue(-std::numeric_limits<double>::infinity()).ToString(), "-inff");
  EXPECT_EQ(AttrValue("NC\"HW").ToString(), "\"NC\\\"HW\"");
  EXPECT_EQ(AttrValue(std::vector<AttrValue>{AttrValue::Ints({1, 2}), "x"}).ToString(),
            "[[1, 2], \"x\"]");
}

TEST(AttrValue, EqualsItsCopy) {
  const AttrValue nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(nan, AttrValue(nan));
  EXPECT_EQ(std::vector<AttrValue>({1, nan}), std::vector<AttrValue>({1, nan}));
  EXPECT_FALSE(nan == AttrValue(1.0));
  EXPECT_FALSE(AttrValue(1) == AttrValue(1.0));
}

TEST(Attrs, AreReadByType) {
  const Attrs attrs = {
      {"bool", true},
      {"int", 3},
      {"float", 0.5},
      {"string", "NCHW"},
      {"ints", AttrValue::Ints({1, 2})},
      {"lists", std::vector<AttrValue>{AttrValue::Ints({1}), AttrValue::Ints({2, 3})}},
      {"floats", std::vector<AttrValue>{0.5, 1}},
      {"dtype", "int8"},
      {"empty", ""},
      {"none", AttrValue::None()}};
  EXPECT_TRUE(attrs.Bool("bool"));
  EXPECT_EQ(attrs.Int("int"), 3);
  EXPECT_EQ(attrs.Float("float"), 0.5);
  EXPECT_EQ(attrs.Float("int"), 3.0);
  EXPECT_EQ(attrs.String("string"), "NCHW");
  EXPECT_EQ(attrs.Ints("ints"), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(attrs.Ints("int"), (std::vector<int64_t>{3}));
  EXPECT_EQ(attrs.Ints("none"), (std::vector<int64_t>{}));
  EXPECT_EQ(attrs.IntLists("lists"), (std::vector<std::vector<int64_t>>{{1}, {2, 3}}));
  EXPECT_EQ(attrs.Floats("floats"), (std::vector<double>{0.5, 1}));
  EXPECT_EQ(attrs.Floats("int"), (std::vector<double>{3}));
  EXPECT_EQ(attrs.DTypeOr("dtype", DType::Float(32)), DType::Int(8));
  EXPECT_EQ(attrs.DTypeOr("empty", DType::Float(32)), DType::Float(32));
  EXPECT_TRUE(attrs.IsNone("none"));
  EXPECT_TRUE(attrs.Has("none"));
  EXPECT_FALSE(attrs.Has("absent"));
  EXPECT_TRUE(attrs.Get("absent").is_none());
}

TEST(Attrs, SetAndErase) {
  Attrs attrs;
  attrs.Set("a", 1);
  attrs.Set("a", 2);
  EXPECT_EQ(attrs, (Attrs{{"a", 2}}));
  attrs.Erase("a");
  attrs.Erase("b");
  EXPECT_EQ(attrs, Attrs());
}

}  // namespace
}  // namespace kiln
