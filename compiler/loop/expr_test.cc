// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/expr.h"

#include <cmath>
#include <limits>

#include "compiler/loop/mutate.h"
#include "gtest/gtest.h"

namespace kiln::loop {
namespace {

constexpr DType kBool = DType::Bool();

Expr I32(int64_t value) { return IntConst(Type::Of(kI32), value); }
Expr F32(double value) { return FloatConst(Type::Of(kF32), value); }

double AsFloat(const Expr& e) {
  const FloatImm* imm = e.As<FloatImm>();
  return imm == nullptr ? std::numeric_limits<double>::quiet_NaN() : imm->value;
}

TEST(TypeTest, Prints) {
  EXPECT_EQ(Type::Index().ToString(), "index");
  EXPECT_EQ(Type::Of(kF32, 16).ToString(), "float32x16");
  EXPECT_EQ(Type::Of(kBool).ToString(), "bool");
}

TEST(FoldTest, IntegersWrapAround) {
  const Expr max = I32(std::numeric_limits<int32_t>::max());
  const Expr min = I32(std::numeric_limits<int32_t>::min());
  EXPECT_EQ(ToString(max + 1), "-2147483648i32");
  EXPECT_EQ(ToString(-min), "-2147483648i32");
  EXPECT_EQ(ToString(MakeUnary(UnaryOp::kAbs, min)), "-2147483648i32");
  EXPECT_EQ(ToString(IntConst(Type::Of(kU8), 200) + 100), "44u8");
  EXPECT_EQ(ToString(IntConst(Type::Of(kU8), 300)), "44u8");
  EXPECT_EQ(ToString(IntConst(Type::Of(kU64), -1)), "18446744073709551615u64");
  EXPECT_EQ(ToString(Expr(int64_t{1} << 62) * 4), "0");
}

TEST(FoldTest, SaturatedValuesAreOfTheNarrowerType) {
  for (const auto& [op, to] : kSaturations) {
    const int64_t least = to.MinInt(), most = static_cast<int64_t>(to.MaxInt());
    EXPECT_TRUE(IsInt(MakeUnary(op, I32(least - 1)), least)) << to.ToString();
    EXPECT_TRUE(IsInt(MakeUnary(op, I32(least)), least)) << to.ToString();
    EXPECT_TRUE(IsInt(MakeUnary(op, I32(most)), most)) << to.ToString();
    EXPECT_TRUE(IsInt(MakeUnary(op, I32(most + 1)), most)) << to.ToString();
    EXPECT_TRUE(IsInt(MakeUnary(op, I32(std::numeric_limits<int32_t>::min())), least));
  }
}

TEST(FoldTest, DivisionTruncatesAndHasNoTraps) {
  EXPECT_TRUE(IsInt(I32(-7) / 2, -3));
  EXPECT_TRUE(IsInt(I32(-7) % 2, -1));
  EXPECT_TRUE(IsInt(I32(7) / 0, 0));
  EXPECT_TRUE(IsInt(I32(7) % 0, 0));
  const Expr min = I32(std::numeric_limits<int32_t>::min());
  EXPECT_TRUE(IsInt(min / -1, std::numeric_limits<int32_t>::min()));
  EXPECT_TRUE(IsInt(min % -1, 0));
  EXPECT_TRUE(IsInt(IntConst(Type::Of(kU64), -1) / 2, std::numeric_limits<int64_t>::max()));
}

// C compilers warn about such comparisons.
TEST(FoldTest, ComparisonsOfBoolsWithConstantsGo) {
  const Var x = MakeVar("x", Type::Of(kBool));
  for (const CompareOp op : {CompareOp::kEq, CompareOp::kNe, CompareOp::kLt, CompareOp::kLe,
                             CompareOp::kGt, CompareOp::kGe}) {
    for (const int64_t value : {0, 1}) {
      const Expr constant = IntConst(x.type(), value);
      for (const Expr& e : {MakeCompare(op, constant, x), MakeCompare(op, x, constant)}) {
        VisitExpr(e, [](const Expr& node) { EXPECT_EQ(node.As<Compare>(), nullptr); });
      }
      for (const int64_t of_x : {0, 1}) {
        const Expr known = IntConst(x.type(), of_x);
        const Substitution at = {{x.get(), known}};
        EXPECT_EQ(ToString(Substitute(MakeCompare(op, constant, x), at)),
                  ToString(MakeCompare(op, constant, known)));
        EXPECT_EQ(ToString(Substitute(MakeCompare(op, x, constant), at)),
                  ToString(MakeCompare(op, known, constant)));
      }
    }
  }
}

TEST(FoldTest, ShiftsCountModuloTheWidth) {
  EXPECT_TRUE(IsInt(MakeBinary(BinaryOp::kShl, I32(1), I32(33)), 2));
  EXPECT_TRUE(IsInt(MakeBinary(BinaryOp::kShr, I32(-8), I32(1)), -4));
  EXPECT_TRUE(IsInt(MakeBinary(BinaryOp::kShr, IntConst(Type::Of(kU8), 0xf0), 4), 0xf));
  EXPECT_TRUE(IsInt(MakeBinary(BinaryOp::kShl, IntConst(Type::Of(kI8), 0x7f), 1), -2));
}

TEST(FoldTest, Float32RoundsAsFloat32) {
  // In double the sum would be 16777217, and the product would keep digits that float32 does not
  // have.
  EXPECT_EQ(AsFloat(F32(16777216) + F32(1)), 16777216.0);
  EXPECT_EQ(AsFloat(F32(0.1)), static_cast<double>(0.1f));
  EXPECT_EQ(AsFloat(F32(0.1) * F32(0.1)), static_cast<double>(0.1f * 0.1f));
  EXPECT_EQ(AsFloat(F32(1) / F32(3)), static_cast<double>(1.0f / 3.0f));
  EXPECT_EQ(AsFloat(MakeFma(F32(0.1), F32(0.1), F32(-0.01))),
            static_cast<double>(std::fmaf(0.1f, 0.1f, -0.01f)));
  EXPECT_EQ(AsFloat(MakeUnary(UnaryOp::kSqrt, F32(2))), static_cast<double>(std::sqrt(2.0f)));
  EXPECT_EQ(AsFloat(MakeUnary(UnaryOp::kRoundEven, F32(2.5))), 2.0);
}

TEST(FoldTest, MinAndMaxKeepANanInTheFirstOperandOnly) {
  const Expr nan = F32(std::nan(""));
  EXPECT_TRUE(std::isnan(Min(nan, F32(1)).As<FloatImm>()->value));
  EXPECT_EQ(AsFloat(Min(F32(1), nan)), 1.0);
  EXPECT_EQ(AsFloat(Max(F32(1), nan)), 1.0);
  EXPECT_TRUE(std::signbit(AsFloat(Min(F32(-0.0), F32(0.0)))));
  EXPECT_FALSE(std::signbit(AsFloat(Min(F32(0.0), F32(-0.0)))));
}

TEST(FoldTest, ComparisonsWithNanAreFalse) {
  const Expr nan = F32(std::nan(""));
  EXPECT_TRUE(IsInt(nan == nan, 0));
  EXPECT_TRUE(IsInt(nan != nan, 1));
  EXPECT_TRUE(IsInt(nan < 1, 0));
  EXPECT_TRUE(IsInt(nan >= 1, 0));
  const Var x = MakeVar("x", Type::Of(kF32));
  EXPECT_EQ(ToString(x == x), "x == x");  // false for NaN: not folded
}

TEST(FoldTest, CastsTruncateAndSaturate) {
  const auto cast = [](DType to, Expr e) { return ToString(MakeCast(to, e)); };
  EXPECT_EQ(cast(kI8, F32(-3.99)), "-3i8");
  EXPECT_EQ(cast(kI8, F32(1000)), "127i8");
  EXPECT_EQ(cast(kU8, F32(-5)), "0u8");
  EXPECT_EQ(cast(kI32, F32(std::nan(""))), "0i32");
  EXPECT_EQ(cast(kI32, F32(3e9)), "2147483647i32");
  EXPECT_EQ(cast(kI64, F32(-1e30)), "-9223372036854775808i64");
  EXPECT_EQ(cast(kU64, F32(1e30)), "18446744073709551615u64");
  EXPECT_EQ(cast(kU8, I32(-1)), "255u8");
  EXPECT_EQ(cast(kI8, I32(200)), "-56i8");
  EXPECT_EQ(cast(kF32, I32(16777217)), "16777216f32");
  EXPECT_EQ(cast(kF32, IntConst(Type::Of(kU64), -1)), "1.8446744e+19f32");
  EXPECT_EQ(cast(kBool, F32(0.5)), "true");
  EXPECT_EQ(cast(kF32, FloatConst(Type::Of(kF64), 1e300)), "inf_f32");
}

TEST(FoldTest, Float16GoesThroughFloat32) {
  EXPECT_EQ(AsFloat(FloatConst(Type::Of(kF16), 0.1)), 0.0999755859375);
  const Var x = MakeVar("x", Type::Of(kF16));
  EXPECT_EQ(ToString(MakeCast(kI32, x)), "int32(float32(x))");
  EXPECT_EQ(ToString(MakeCast(kF16, MakeVar("d", Type::Of(kF64)))), "float16(float32(d))");
  EXPECT_EQ(ToString(MakeBitcast(DType::UInt(16), FloatConst(Type::Of(kF16), 1))), "15360u16");
}

TEST(FoldTest, Bitcasts) {
  EXPECT_EQ(ToString(MakeBitcast(kI32, F32(1))), "1065353216i32");
  EXPECT_EQ(ToString(MakeBitcast(kF32, I32(0x40490fdb))), "3.1415927f32");
  const Var x = MakeVar("x", Type::Of(kF32));
  EXPECT_EQ(MakeBitcast(kF32, MakeBitcast(kI32, x)).get(), x.get());
}

TEST(FoldTest, IndexConstantsTakeTheOtherType) {
  const Var x = MakeVar("x", Type::Of(kF32));
  EXPECT_EQ(ToString(x + 1), "x + 1f32");
  EXPECT_EQ(ToString(2 * x), "2f32 * x");
  EXPECT_EQ(ToString(MakeVar("n", Type::Of(kU8)) + 255), "n + 255u8");
  EXPECT_EQ(ToString(x < 0), "x < 0f32");
}

TEST(FoldTest, ExactIdentities) {
  const Var i = MakeVar("i");
  EXPECT_EQ(ToString(i + 0), "i");
  EXPECT_EQ(ToString(3 + (i + 4)), "i + 7");
  EXPECT_EQ(ToString(2 * (i * 3)), "i * 6");
  EXPECT_EQ(ToString(i * 0), "0");
  EXPECT_EQ(ToString(i % 1), "0");
  EXPECT_EQ(ToString(i - i), "0");
  EXPECT_EQ(ToString(Min(i, i)), "i");
  EXPECT_EQ(ToString(i <= i), "true");
  const Expr less = i < 5;
  EXPECT_EQ((less && IntConst(Type::Of(kBool), 1)).get(), less.get());
  EXPECT_EQ(ToString(less || IntConst(Type::Of(kBool), 1)), "true");
  EXPECT_EQ((Not(Not(less))).get(), less.get());
  EXPECT_EQ(ToString(MakeSelect(Not(less), 1, 2)), "select(i < 5, 2, 1)");
}

TEST(FoldTest, FloatsKeepEveryBit) {
  const Var x = MakeVar("x", Type::Of(kF32));
  EXPECT_EQ(ToString(x + F32(0.0)), "x + 0f32");  // -0 + 0 is +0
  EXPECT_EQ((x + F32(-0.0)).get(), x.get());
  EXPECT_EQ((x - F32(0.0)).get(), x.get());
  EXPECT_EQ((x * 1).get(), x.get());
  EXPECT_EQ(ToString(x * 0), "x * 0f32");
  EXPECT_EQ(ToString(x - x), "x - x");
  EXPECT_EQ(ToString((x + 1) + 2), "x + 1f32 + 2f32");
}

TEST(FoldTest, ScalarsBesideVectorsAreBroadcast) {
  const Var i = MakeVar("i");
  const Buffer a = MakeBuffer("a", kF32, {64}, BufferScope::kParam);
  const Expr vector = MakeLoad(a, {MakeRamp(i, 1, 8)});
  EXPECT_EQ(ToString(vector * 2 + MakeLoad(a, {i})),
            "a[ramp(i, 1, 8)] * broadcast(2f32, 8) + broadcast(a[i], 8)");
  EXPECT_EQ(vector.type(), Type::Of(kF32, 8));
  EXPECT_EQ(ToString(MakeBroadcast(i, 4) + 1), "broadcast(i + 1, 4)");
  EXPECT_EQ(ToString(MakeLoad(a, {MakeBroadcast(i, 4)})), "broadcast(a[i], 4)");
  EXPECT_EQ(ToString(MakeSelect(i < 3, vector, vector + 1)),
            "let t0 = a[ramp(i, 1, 8)] in select(broadcast(i < 3, 8), t0, t0 + broadcast(1f32, "
            "8))");
}

TEST(FoldTest, RampsStayRamps) {
  const Var i = MakeVar("i"), j = MakeVar("j");
  const Expr ramp = MakeRamp(i, 2, 4);
  EXPECT_EQ(ToString(ramp + 3), "ramp(i + 3, 2, 4)");
  EXPECT_EQ(ToString(j - ramp), "ramp(j - i, -2, 4)");
  EXPECT_EQ(ToString(ramp * 5), "ramp(i * 5, 10, 4)");
  EXPECT_EQ(ToString(ramp + MakeRamp(j, 1, 4)), "ramp(i + j, 3, 4)");
  EXPECT_EQ(ToString(ramp - ramp), "broadcast(0, 4)");
  EXPECT_EQ(ToString(MakeRamp(i, 0, 4)), "broadcast(i, 4)");
}

TEST(ExprDeathTest, TypeMismatchAborts) {
  const Var x = MakeVar("x", Type::Of(kF32)), n = MakeVar("n", Type::Of(kI32));
  EXPECT_DEATH((void)(x + n), "operands of types float32 and int32");
  EXPECT_DEATH((void)(x % x), "no such operation on float32");
  EXPECT_DEATH((void)MakeLoad(MakeBuffer("a", kF32, {4}, BufferScope::kParam), {n}),
               "an index of a of type int32");
}

TEST(ExprTest, DeepExpressionsNeedNoDeepStack) {
  Expr sum = MakeVar("x", Type::Of(kF32));
  const Expr term = MakeVar("y", Type::Of(kF32));
  for (int i = 0; i < 1'000'000; ++i) sum = sum + term;
  sum = Expr();  // deleted without recursion
}

}  // namespace
}  // namespace kiln::loop
