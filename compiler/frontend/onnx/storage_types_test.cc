// SPDX-License-Identifier: Apache-2.0
// Types for the storage of tensors: the values of their codes, and rounding to them.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/frontend/onnx/values_of.h"

namespace kiln::onnx_frontend {
namespace {

constexpr int kE4M3FN = 17, kE4M3FNUZ = 18, kE5M2 = 19, kE5M2FNUZ = 20, kUInt4 = 21, kInt4 = 22,
              kE2M1 = 23, kUInt2 = 25, kInt2 = 26;

std::string Node(const char* op, const std::string& inputs, const std::string& attributes = "") {
  return absl::StrCat("op_type: '", op, "' output: 'y' input: ", inputs, attributes);
}

// Returns the values of codes that are packed as in a file.
std::vector<double> NumbersOf(int type, const std::vector<double>& packed, int64_t elements) {
  const auto values =
      ValuesOf({Node("Identity", "'x'"), {{"x", {elements}, packed, type}}, {}, 25});
  EXPECT_TRUE(values.ok()) << values.status();
  return values.value_or(std::vector<double>());
}

std::vector<double> AllNumbersOf(int type) {
  std::vector<double> codes;
  for (int code = 0; code < 256; ++code) codes.push_back(code);
  return NumbersOf(type, codes, 256);
}

TEST(StorageTypes, CodesOfFloats) {
  struct Row {
    int type;
    int code;
    double number;
  };
  const double inf = INFINITY;
  const Row rows[] = {
      {kE4M3FN, 0x00, 0},         {kE4M3FN, 0x01, 0x1p-9},   {kE4M3FN, 0x07, 0x1.cp-7},
      {kE4M3FN, 0x08, 0x1p-6},    {kE4M3FN, 0x38, 1},        {kE4M3FN, 0x7e, 448},
      {kE4M3FN, 0x7f, NAN},       {kE4M3FN, 0xff, NAN},      {kE4M3FN, 0xb9, -1.125},
      {kE4M3FNUZ, 0x01, 0x1p-10}, {kE4M3FNUZ, 0x40, 1},      {kE4M3FNUZ, 0x7f, 240},
      {kE4M3FNUZ, 0x80, NAN},     {kE4M3FNUZ, 0xc0, -1},     {kE5M2, 0x01, 0x1p-16},
      {kE5M2, 0x3c, 1},           {kE5M2, 0x7b, 57344},      {kE5M2, 0x7c, inf},
      {kE5M2, 0xfc, -inf},        {kE5M2, 0x7d, NAN},        {kE5M2, 0xff, NAN},
      {kE5M2FNUZ, 0x01, 0x1p-17}, {kE5M2FNUZ, 0x40, 1},      {kE5M2FNUZ, 0x7f, 57344},
      {kE5M2FNUZ, 0x80, NAN},     {kE5M2FNUZ, 0xff, -57344},
  };
  for (const Row& row : rows) {
    const double found = AllNumbersOf(row.type).at(static_cast<size_t>(row.code));
    SCOPED_TRACE(absl::StrCat("type ", row.type, " code ", row.code));
    if (std::isnan(row.number)) {
      EXPECT_TRUE(std::isnan(found)) << found;
    } else {
      EXPECT_EQ(found, row.number);
    }
  }
  EXPECT_TRUE(std::signbit(AllNumbersOf(kE4M3FN).at(0x80)));
}

TEST(StorageTypes, PackedCodes) {
  EXPECT_EQ(NumbersOf(kInt4, {0x8f, 0x07}, 3), (std::vector<double>{-1, -8, 7}));
  EXPECT_EQ(NumbersOf(kUInt4, {0x8f, 0x07}, 3), (std::vector<double>{15, 8, 7}));
  EXPECT_EQ(NumbersOf(kInt2, {0b11100100, 0b10}, 5), (std::vector<double>{0, 1, -2, -1, -2}));
  EXPECT_EQ(NumbersOf(kUInt2, {0b11100100}, 4), (std::vector<double>{0, 1, 2, 3}));
  EXPECT_EQ(NumbersOf(kE2M1, {0x10, 0x32, 0x54, 0x76, 0xf9}, 10),
            (std::vector<double>{0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.5, -6}));
}

TEST(StorageTypes, OfOtherSizesAreRefused) {
  const auto values = ValuesOf({Node("Identity", "'x'"), {{"x", {4}, {1}, kInt4}}, {}, 25});
  EXPECT_TRUE(absl::StrContains(values.status().message(), "found 1 bytes, wanted 2"))
      << values.status();
}

// Test values for adjacent numbers of a type: each number, the middle between them, and slightly
// less and more than the middle.
struct Rounding {
  std::vector<double> x, expected;
};
Rounding RoundingsOf(int type) {
  std::vector<double> numbers;  // non-negative numbers, in order of their codes
  for (int code = 0; code < 128; ++code) {
    const double number = AllNumbersOf(type).at(static_cast<size_t>(code));
    if (std::isfinite(number)) numbers.push_back(number);
  }
  Rounding result;
  const auto add = [&](double x, double expected) {
    for (const double sign : {1.0, -1.0}) {
      result.x.push_back(sign * x);
      result.expected.push_back(sign * expected);
    }
  };
  for (size_t code = 0; code + 1 < numbers.size(); ++code) {
    const double low = numbers[code], high = numbers[code + 1], middle = (low + high) / 2;
    add(low, low);
    add(middle, code % 2 == 0 ? low : high);
    add(middle * (1 - 0x1p-20), low);
    add(middle * (1 + 0x1p-20), high);
  }
  return result;
}

TEST(StorageTypes, RoundingIsToTheNearest) {
  for (const int type : {kE4M3FN, kE4M3FNUZ, kE5M2, kE5M2FNUZ}) {
    const Rounding cases = RoundingsOf(type);
    const auto count = static_cast<int64_t>(cases.x.size());
    ASSERT_GT(count, 900);
    const auto found =
        ValuesOf({Node("Cast", "'x'", Attr("to", type)), {{"x", {count}, cases.x}}, {}, 25});
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_EQ(*found, cases.expected) << "type " << type;
  }
}

TEST(StorageTypes, BeyondTheLargestNumber) {
  const Given x = {"x", {5}, {1e30, -1e30, INFINITY, -INFINITY, NAN}};
  const auto cast = [&](int type, int saturate) {
    const std::string attributes =
        Attr("to", type) + (type == kE2M1 ? "" : Attr("saturate", saturate));
    const auto values = ValuesOf({Node("Cast", "'x'", attributes), {x}, {}, 25});
    EXPECT_TRUE(values.ok()) << values.status();
    std::string text;
    for (const double value : values.value_or(std::vector<double>())) {
      absl::StrAppend(&text, std::isnan(value) ? "nan" : absl::StrCat(value), " ");
    }
    return text;
  };
  EXPECT_EQ(cast(kE4M3FN, 1), "448 -448 448 -448 nan ");
  EXPECT_EQ(cast(kE4M3FN, 0), "nan nan nan nan nan ");
  EXPECT_EQ(cast(kE4M3FNUZ, 1), "240 -240 240 -240 nan ");
  EXPECT_EQ(cast(kE5M2, 1), "57344 -57344 57344 -57344 nan ");
  EXPECT_EQ(cast(kE5M2, 0), "inf -inf inf -inf nan ");
  EXPECT_EQ(cast(kE5M2FNUZ, 0), "nan nan nan nan nan ");
  EXPECT_EQ(cast(kE2M1, 1), "6 -6 6 -6 0 ");
}

TEST(StorageTypes, QuantizedTo) {
  const Given x = {"x", {4}, {-9.2, 0.3, 2.5, 101}};
  ExpectValues({
      {Node("QuantizeLinear", "'x' input: 's' input: 'z'"),
       {x, {"s", {}, {1}}, {"z", {}, {1}, kInt4}},
       {-8, 1, 3, 7},
       25},
      {Node("QuantizeLinear", "'x' input: 's' input: 'z'"),
       {x, {"s", {}, {1}}, {"z", {}, {0}, kUInt4}},
       {0, 0, 2, 15},
       25},
      {Node("QuantizeLinear", "'x' input: 's'", Attr("output_dtype", kE4M3FN)),
       {x, {"s", {}, {2}}},
       {-4.5, 0.15625, 1.25, 52},
       25},
      {Node("DequantizeLinear", "'x' input: 's'"),
       {{"x", {3}, {0x38, 0x40, 0xb8}, kE4M3FN}, {"s", {}, {0.5}}},
       {0.5, 1, -0.5},
       25},
      // The input has a storage type, and the scales belong to an axis.
      {Node("DequantizeLinear", "'x' input: 's'", Attr("axis", 0)),
       {{"x", {2, 2}, {0x38, 0x40, 0x38, 0x40}, kE4M3FN}, {"s", {2}, {1, 10}}},
       {1, 2, 10, 20},
       25},
      {Node("CastLike", "'x' input: 'l'"), {x, {"l", {1}, {0}, kE2M1}}, {-6, 0.5, 2, 6}, 25},
  });
}

}  // namespace
}  // namespace kiln::onnx_frontend
