// SPDX-License-Identifier: Apache-2.0
#include "compiler/base/tensor.h"

#include <cmath>
#include <limits>

#include "gtest/gtest.h"

namespace kiln {
namespace {

TEST(TensorType, Prints) {
  EXPECT_EQ((TensorType{{}, DType::Bool()}).ToString(), "bool");
  EXPECT_EQ((TensorType{{4}, DType::Int(8)}).ToString(), "Tensor[(4,), int8]");
  EXPECT_EQ((TensorType{{1, 2}, DType::UInt(8)}).ToString(), "Tensor[(1, 2), uint8]");
}

TEST(TensorType, Sizes) {
  EXPECT_EQ((TensorType{{2, 3}, DType::Float(64)}).num_bytes(), 48);
  EXPECT_EQ((TensorType{{2, 0}, DType::Float(64)}).num_bytes(), 0);
  EXPECT_EQ(NumElements({}), 1);
  EXPECT_EQ(RowMajorStrides({2, 3, 4}), (Shape{12, 4, 1}));
}

TEST(TensorType, IsCheckedAgainstLimits) {
  const DType f32 = DType::Float(32);
  EXPECT_TRUE(CheckTensorType({{1, 0, 3}, f32}).ok());
  EXPECT_FALSE(CheckTensorType({{1, -1}, f32}).ok());
  EXPECT_FALSE(CheckTensorType({Shape(17, 1), f32}).ok());
  EXPECT_FALSE(CheckTensorType({{int64_t{1} << 40}, f32}).ok());
  EXPECT_FALSE(CheckTensorType({{int64_t{1} << 40, int64_t{1} << 40}, f32}).ok());
  EXPECT_FALSE(CheckTensorType({{int64_t{1} << 33}, DType::Float(64)}).ok());
}

TEST(Tensor, Elements) {
  const Tensor tensor = Tensor::From<int16_t>({3}, DType::Int(16), {1, -2, 3});
  EXPECT_EQ(tensor.ToInts(), (std::vector<int64_t>{1, -2, 3}));
  EXPECT_EQ(tensor.AsDouble(1), -2.0);
  EXPECT_EQ(tensor.values<int16_t>()[2], 3);
  EXPECT_TRUE(tensor == Tensor::From<int16_t>({3}, DType::Int(16), {1, -2, 3}));
  EXPECT_FALSE(tensor == Tensor::From<int16_t>({3}, DType::Int(16), {1, -2, 4}));
  EXPECT_FALSE(tensor == Tensor::From<int16_t>({1, 3}, DType::Int(16), {1, -2, 3}));
}

TEST(Tensor, EveryDTypeIsFilled) {
  for (const char* name : {"float16", "float32", "float64", "int8", "int16", "int32", "int64",
                           "uint8", "uint16", "uint32", "uint64", "bool"}) {
    const Tensor tensor = Tensor::Filled({{2}, *DType::Parse(name)}, 1);
    ASSERT_EQ(tensor.bytes().size(), static_cast<size_t>(tensor.type().num_bytes())) << name;
    EXPECT_EQ(tensor.AsDouble(1), 1.0) << name;
    EXPECT_EQ(tensor.AsInt(1), 1) << name;
  }
}

TEST(Tensor, IntegersSaturate) {
  const double huge = 1e300, nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(Tensor::Scalar(DType::Int(8), 1000).AsInt(0), 127);
  EXPECT_EQ(Tensor::Scalar(DType::UInt(8), -1).AsInt(0), 0);
  EXPECT_EQ(Tensor::Scalar(DType::Int(64), huge).AsInt(0), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(Tensor::Scalar(DType::Int(64), -huge).AsInt(0), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(Tensor::Scalar(DType::UInt(64), huge).AsInt(0), -1);
  EXPECT_EQ(Tensor::Scalar(DType::Int(32), nan).AsInt(0), 0);
  EXPECT_EQ(Tensor::Scalar(DType::Float(64), huge).AsInt(0), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(Tensor::Scalar(DType::Float(32), nan).AsInt(0), 0);
}

TEST(Half, KnownValues) {
  EXPECT_EQ(HalfFromFloat(1.0f), 0x3c00);
  EXPECT_EQ(HalfFromFloat(-2.0f), 0xc000);
  EXPECT_EQ(HalfFromFloat(65504.0f), 0x7bff);
  EXPECT_EQ(HalfFromFloat(65520.0f), 0x7c00);  // rounds to infinity
  EXPECT_EQ(HalfFromFloat(65519.996f), 0x7bff);
  EXPECT_EQ(HalfFromFloat(0x1p-24f), 0x0001);  // smallest subnormal
  EXPECT_EQ(HalfFromFloat(0x1p-25f), 0x0000);  // a tie goes to even
  EXPECT_EQ(HalfFromFloat(0x1.8p-24f), 0x0002);
  EXPECT_EQ(HalfFromFloat(0x1.ffcp-15f), 0x0400);  // rounds up into the normal range
  EXPECT_EQ(HalfFromFloat(-0.0f), 0x8000);
  EXPECT_EQ(HalfFromFloat(std::numeric_limits<float>::infinity()), 0x7c00);
  EXPECT_EQ(HalfFromFloat(std::numeric_limits<float>::quiet_NaN()) & 0x7e00, 0x7e00);
}

TEST(Half, EveryHalfIsExactAsFloat) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = FloatFromHalf(static_cast<uint16_t>(bits));
    if (std::isnan(value)) continue;
    EXPECT_EQ(HalfFromFloat(value), bits);
  }
}

}  // namespace
}  // namespace kiln
