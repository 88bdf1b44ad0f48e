// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/literal.h"

#include <cstring>
#include <limits>
#include <random>

#include "gtest/gtest.h"

namespace kiln {
namespace {

TEST(FloatDigits, AreTheFewestThatReadBack) {
  EXPECT_EQ(FloatDigits(1.0), "1");
  EXPECT_EQ(FloatDigits(0.1), "0.1");
  EXPECT_EQ(FloatDigits(0.1f), "0.1");
  EXPECT_EQ(FloatDigits(static_cast<double>(0.1f)), "0.10000000149011612");
  EXPECT_EQ(FloatDigits(1e-5), "1e-05");
  EXPECT_EQ(FloatDigits(5e-324), "5e-324");
  EXPECT_EQ(FloatDigits(-0.0), "-0");
}

TEST(QuoteString, Escapes) {
  EXPECT_EQ(QuoteString("a\"b\\c\n\x01\x7f é"), "\"a\\\"b\\\\c\\n\\x01\\x7f é\"");
}

// A literal reads back with the same bits. Tested for every float16 and int16, and for many floats
// and doubles.
template <typename T>
void ExpectReadsBack(DType dtype, T bits) {
  const Tensor tensor = Tensor::From<T>({}, dtype, {bits});
  const std::optional<std::string> literal = ScalarLiteral(tensor);
  if (!literal) {
    EXPECT_NE(tensor.AsDouble(0), tensor.AsDouble(0)) << bits;  // only a NaN may have no literal
    return;
  }
  absl::StatusOr<Tensor> again = ParseScalar(*literal);
  ASSERT_TRUE(again.ok()) << *literal << ": " << again.status();
  EXPECT_TRUE(*again == tensor) << *literal;
}

TEST(ScalarLiteral, KeepsTheBits) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    ExpectReadsBack(DType::Float(16), static_cast<uint16_t>(bits));
    ExpectReadsBack(DType::Int(16), static_cast<uint16_t>(bits));
  }
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    const uint64_t bits = random() >> (i % 64);
    ExpectReadsBack(DType::Float(32), static_cast<uint32_t>(bits));
    ExpectReadsBack(DType::Float(64), bits);
    ExpectReadsBack(DType::Int(32), static_cast<uint32_t>(bits));
    ExpectReadsBack(DType::Int(64), bits);
  }
}

TEST(ScalarLiteral, ExistsForScalarsOfSomeDTypes) {
  EXPECT_EQ(ScalarLiteral(Tensor::Scalar(DType::Float(16), 0.5)), "0.5f16");
  const float largest = std::numeric_limits<float>::max();
  EXPECT_EQ(ScalarLiteral(Tensor::From<float>({}, DType::Float(32), {-largest})),
            "-3.4028234663852886e+38f");
  EXPECT_EQ(ScalarLiteral(Tensor::Scalar(DType::Int(32), 7)), "7");
  EXPECT_EQ(ScalarLiteral(Tensor::Scalar(DType::Int(64), 7)), "7i64");
  EXPECT_EQ(ScalarLiteral(Tensor::Scalar(DType::Bool(), 1)), "True");
  EXPECT_EQ(ScalarLiteral(Tensor::Scalar(DType::Int(8), 7)), std::nullopt);
  EXPECT_EQ(ScalarLiteral(Tensor::Scalar(DType::UInt(32), 7)), std::nullopt);
  EXPECT_EQ(ScalarLiteral(Tensor::Filled({{1}, DType::Int(32)}, 7)), std::nullopt);
}

TEST(ParseNumber, OfAttributes) {
  EXPECT_EQ(*ParseInt("-5"), -5);
  EXPECT_EQ(*ParseInt("5i64"), 5);
  EXPECT_EQ(*ParseFloat("0.1f"), 0.1);
  EXPECT_EQ(*ParseFloat("1e-05f64"), 1e-5);
  EXPECT_FALSE(ParseInt("99999999999999999999").ok());
  EXPECT_FALSE(ParseFloat("1e999f").ok());
  EXPECT_FALSE(ParseScalar("1f8").ok());
  EXPECT_FALSE(ParseScalar("1e99f").ok());
}

}  // namespace
}  // namespace kiln
