// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/op_schema.h"

#include <optional>

#include "gtest/gtest.h"

namespace kiln {
namespace {

using List = std::vector<AttrValue>;

const AttrValue kNone = AttrValue::None();

struct Case {
  AttrType type;
  AttrValue given;
  std::optional<AttrValue> normal;  // absent: the value is refused
};

TEST(NormalizeAttrs, BringsValuesToTheFormOfTheirType) {
  const List lists = {AttrValue::Ints({0, 1}), AttrValue::Ints({2})};
  const Case cases[] = {
      {AttrType::kBool, true, true},
      {AttrType::kBool, 1, true},
      {AttrType::kBool, 2, std::nullopt},
      {AttrType::kInt, 2, 2},
      {AttrType::kInt, true, 1},
      {AttrType::kInt, 2.0, std::nullopt},
      {AttrType::kInt, "2", std::nullopt},
      {AttrType::kFloat, 2, 2.0},
      {AttrType::kFloat, 0.5, 0.5},
      {AttrType::kFloat, false, std::nullopt},
      {AttrType::kString, "x", "x"},
      {AttrType::kString, 1, std::nullopt},
      {AttrType::kDType, "uint8", "uint8"},
      {AttrType::kDType, "", ""},
      {AttrType::kDType, "uint7", std::nullopt},
      {AttrType::kInts, 3, AttrValue::Ints({3})},
      {AttrType::kInts, AttrValue::Ints({1, 2}), AttrValue::Ints({1, 2})},
      {AttrType::kInts, List{}, List{}},
      {AttrType::kInts, List{1, 2.0}, std::nullopt},
      {AttrType::kInts, lists, std::nullopt},
      {AttrType::kFloats, List{1, 2.5}, List{1.0, 2.5}},
      {AttrType::kFloats, 1, List{1.0}},
      {AttrType::kFloats, List{"x"}, std::nullopt},
      {AttrType::kIntLists, lists, lists},
      {AttrType::kIntLists, AttrValue::Ints({1, 2}), AttrValue::Ints({1, 2})},
      {AttrType::kIntLists, 1, std::nullopt},
      {AttrType::kIntLists, List{1, AttrValue::Ints({1})}, std::nullopt},
      {AttrType::kIntOrInts, 2, 2},
      {AttrType::kIntOrInts, AttrValue::Ints({2}), AttrValue::Ints({2})},
      {AttrType::kIntOrInts, 2.0, std::nullopt},
  };
  for (const Case& c : cases) {
    const OpSchema op = {
        .name = "op", .doc = "", .attrs = {{"a", c.type, kNone, /*required=*/true}}};
    const absl::StatusOr<Attrs> attrs = NormalizeAttrs(op, {{"a", c.given}});
    EXPECT_EQ(attrs.ok(), c.normal.has_value()) << c.given.ToString() << ": " << attrs.status();
    if (attrs.ok() && c.normal) {
      EXPECT_EQ(*attrs, (Attrs{{"a", *c.normal}})) << c.given.ToString();
    }
  }
}

TEST(NormalizeAttrs, FillsInDefaults) {
  const OpSchema op = {
      .name = "op",
      .doc = "",
      .attrs = {
          {"f", AttrType::kFloat, 2}, {"n", AttrType::kInt, kNone}, {"d", AttrType::kDType, ""}}};
  EXPECT_EQ(*NormalizeAttrs(op, {}), (Attrs{{"f", 2.0}, {"n", kNone}, {"d", ""}}));
  EXPECT_EQ(*NormalizeAttrs(op, {{"n", kNone}, {"d", kNone}}),
            (Attrs{{"f", 2.0}, {"n", kNone}, {"d", ""}}));
  EXPECT_EQ(op.attrs[0].NormalDefault(), AttrValue(2.0));
}

TEST(NormalizeAttrs, SaysWhatIsWrong) {
  const OpSchema op = {
      .name = "op",
      .doc = "",
      .attrs = {{"a", AttrType::kInt, kNone, /*required=*/true}, {"b", AttrType::kInts, kNone}}};
  auto message = [&](Attrs attrs) {
    return std::string(NormalizeAttrs(op, std::move(attrs)).status().message());
  };
  EXPECT_EQ(message({}), "op: attribute 'a' is missing, wanted an int");
  EXPECT_EQ(message({{"a", kNone}}), "op: attribute 'a': found None, wanted an int");
  EXPECT_EQ(message({{"a", 1}, {"b", "x"}}),
            "op: attribute 'b': found \"x\", wanted a list of ints or None");
  EXPECT_EQ(message({{"a", 1}, {"c", 1}}), "op: unknown attribute 'c'; known are a, b");
}

}  // namespace
}  // namespace kiln
