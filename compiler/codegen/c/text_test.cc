// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <limits>

#include "compiler/codegen/c/literals.h"
#include "compiler/codegen/c/names.h"
#include "gtest/gtest.h"

namespace kiln::codegen {
namespace {

TEST(Names, AreValidAndNotReserved) {
  Names names;
  EXPECT_EQ(names.AddGlobal("conv1/weight:0"), "conv1_weight_0");
  EXPECT_EQ(names.AddGlobal("conv1.weight.0"), "conv1_weight_0_1");
  EXPECT_EQ(names.AddGlobal("int"), "int_1");
  EXPECT_EQ(names.AddGlobal("0"), "_0");
  EXPECT_EQ(names.AddGlobal(""), "_");
  EXPECT_EQ(names.AddGlobal("index"), "index_1");
  EXPECT_EQ(names.AddGlobal("sqrtf"), "sqrtf_1");
  EXPECT_EQ(names.AddGlobal("size_t"), "size_t_1");
  EXPECT_EQ(names.AddGlobal("__x"), "x___x_1");
  EXPECT_EQ(names.AddGlobal("kiln_min_i8"), "x_kiln_min_i8_1");
  EXPECT_EQ(names.AddGlobal("\xc3\xbc"), "x____1");
}

TEST(Names, LocalsHideNothing) {
  Names names;
  names.AddGlobal("weight");
  Names::Scope function(names);
  EXPECT_EQ(names.AddLocal("weight"), "weight_1");
  EXPECT_EQ(names.AddLocal("i"), "i");
  {
    Names::Scope loop(names);
    EXPECT_EQ(names.AddLocal("i"), "i_1");
    EXPECT_EQ(names.AddLocal("j"), "j");
  }
  Names::Scope loop(names);
  EXPECT_EQ(names.AddLocal("j"), "j");
}

TEST(Names, ExactNames) {
  Names names;
  EXPECT_TRUE(names.AddExactGlobal("__tvm_dev_mblob"));
  EXPECT_FALSE(names.AddExactGlobal("__tvm_dev_mblob"));
  EXPECT_FALSE(names.AddExactGlobal("a-b"));
  EXPECT_FALSE(names.AddExactGlobal("while"));
  EXPECT_FALSE(names.AddExactGlobal(""));
}

TEST(Literals, Integers) {
  EXPECT_EQ(IntLiteral(DType::Int(8), -128), "(-128)");
  EXPECT_EQ(IntLiteral(DType::Int(32), -2147483648), "INT32_MIN");
  EXPECT_EQ(IntLiteral(DType::Int(64), -2147483648), "(INT64_C(-2147483648))");
  EXPECT_EQ(IntLiteral(DType::Int(64), std::numeric_limits<int64_t>::min()), "INT64_MIN");
  EXPECT_EQ(IntLiteral(DType::UInt(8), 255), "255");
  EXPECT_EQ(IntLiteral(DType::UInt(32), 7), "7u");
  EXPECT_EQ(IntLiteral(DType::UInt(64), -1), "UINT64_C(18446744073709551615)");
}

TEST(Literals, FloatsReadBackAsThemselves) {
  EXPECT_EQ(FloatLiteral(DType::Float(32), 1), "1.0f");
  EXPECT_EQ(FloatLiteral(DType::Float(32), 0.1f), "0.1f");
  EXPECT_EQ(FloatLiteral(DType::Float(64), 0.1), "0.1");
  EXPECT_EQ(FloatLiteral(DType::Float(32), -0.0), "(-0.0f)");
  EXPECT_EQ(FloatLiteral(DType::Float(32), 1e30f), "1e+30f");
  EXPECT_EQ(FloatLiteral(DType::Float(32), std::numeric_limits<float>::infinity()),
            "(1.0f / 0.0f)");
  EXPECT_EQ(FloatLiteral(DType::Float(64), std::numeric_limits<double>::quiet_NaN()),
            "(0.0 / 0.0)");
  for (float value : {std::numeric_limits<float>::denorm_min(), std::numeric_limits<float>::max(),
                      16777217.0f, 3.14159274f}) {
    EXPECT_EQ(strtof(FloatLiteral(DType::Float(32), value).c_str(), nullptr), value);
  }
}

TEST(Literals, Strings) {
  EXPECT_EQ(StringLiteral("a\"b\\c\n"), R"("a\"b\\c\n")");
  EXPECT_EQ(StringLiteral("what?\?!"), R"("what?\?!")");
  EXPECT_EQ(StringLiteral("?\?\?"), R"("?\?\?")");
  EXPECT_EQ(StringLiteral(std::string("\0"
                                      "9\xff",
                                      3)),
            R"("\0009\377")");
}

TEST(Literals, ElementsBreakLines) {
  std::string out;
  AppendElements(
      Tensor::From<int64_t>({3}, DType::Int(64), {1, -2, std::numeric_limits<int64_t>::min()}),
      "  ", &out);
  EXPECT_EQ(out, "  1,-2,-9223372036854775807-1");
  out.clear();
  AppendElements(Tensor::Filled({{100}, DType::Int(8)}, -1), "  ", &out);
  for (size_t line = 0; line < out.size(); line = out.find('\n', line) + 1) {
    const size_t end = out.find('\n', line);
    EXPECT_LE((end == std::string::npos ? out.size() : end) - line, 112u);
    if (end == std::string::npos) break;
  }
}

}  // namespace
}  // namespace kiln::codegen
