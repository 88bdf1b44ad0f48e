// SPDX-License-Identifier: Apache-2.0
// Every operation on every type, at edge values: machine code and interpreter compute the same
// bits, with scalars and vectors.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiler/codegen/llvm/codegen_llvm.h"
#include "compiler/codegen/llvm/emit.h"
#include "compiler/codegen/llvm/jit.h"
#include "compiler/codegen/llvm/test_programs.h"
#include "compiler/loop/expr.h"
#include "compiler/loop/loop.h"

namespace kiln::codegen {
namespace {

using loop::BinaryOp;
using loop::Buffer;
using loop::CompareOp;
using loop::Expr;
using loop::Stmt;
using loop::UnaryOp;
using loop::Var;

constexpr int kLanes = 8;

// Collects stores of results, so that one program (and one compilation) covers many operations.
class Results {
 public:
  explicit Results(int count) : count_(count) {}

  // Adds out[i] = make(i) for all i, once by elements and once by vectors.
  template <typename Make>
  void Add(const std::string& name, DType dtype, Make make) {
    for (int lanes : {1, kLanes}) {
      Buffer out = Param(name + (lanes == 1 ? "" : "_vector"), dtype, {count_});
      const Var i = loop::MakeVar("i");
      const Expr index = lanes == 1 ? Expr(i) : loop::MakeRamp(i * lanes, 1, lanes);
      stores_.push_back(loop::MakeFor(i, 0, count_ / lanes, loop::ForKind::kSerial,
                                      loop::MakeStore(out, {index}, make(index))));
      outputs_.push_back(out);
    }
  }

  // Runs all stores on all available machines.
  void Check(const std::vector<Buffer>& inputs, const std::vector<std::string>& bytes) {
    std::vector<Buffer> params = inputs;
    std::vector<std::string> args = bytes;
    for (const Buffer& out : outputs_) {
      params.push_back(out);
      args.push_back(std::string(out->num_bytes(), '\0'));
    }
    // A Jit function takes at most 16 parameters, so each function has only some of the outputs.
    const size_t fixed = inputs.size();
    for (size_t first = 0; first < outputs_.size(); first += 12) {
      const size_t last = std::min(outputs_.size(), first + 12);
      std::vector<Buffer> some(params.begin(), params.begin() + fixed);
      some.insert(some.end(), params.begin() + fixed + first, params.begin() + fixed + last);
      std::vector<std::string> some_args(args.begin(), args.begin() + fixed);
      some_args.insert(some_args.end(), args.begin() + fixed + first, args.begin() + fixed + last);
      const loop::LoopProgram program =
          OneFunc(some, static_cast<int>(fixed),
                  loop::MakeBlock({stores_.begin() + first, stores_.begin() + last}));
      for (const Target& target : RunnableTargets())
        ExpectSameBits(program, "f", some_args, target);
    }
  }

 private:
  int count_;
  std::vector<Buffer> outputs_;
  std::vector<Stmt> stores_;
};

class ArithmeticTest : public testing::TestWithParam<DType> {};

class IntegerTest : public ArithmeticTest {};
class FloatTest : public ArithmeticTest {};

template <typename Predicate>
std::vector<DType> DtypesThat(Predicate predicate) {
  std::vector<DType> dtypes = AllDtypes();
  std::erase_if(dtypes, [&](DType dtype) { return !predicate(dtype); });
  return dtypes;
}

std::string NameOf(const testing::TestParamInfo<DType>& info) { return info.param.ToString(); }

INSTANTIATE_TEST_SUITE_P(, ArithmeticTest, testing::ValuesIn(AllDtypes()), NameOf);
INSTANTIATE_TEST_SUITE_P(, IntegerTest,
                         testing::ValuesIn(DtypesThat([](DType d) { return d.is_integral(); })),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(, FloatTest,
                         testing::ValuesIn(DtypesThat([](DType d) { return d.is_float(); })),
                         NameOf);

TEST_P(ArithmeticTest, Unary) {
  const DType dtype = GetParam();
  constexpr int kCount = 256;
  const Buffer a = Param("a", dtype, {kCount});
  Results results(kCount);
  std::vector<std::pair<const char*, UnaryOp>> ops;
  if (!dtype.is_bool()) ops = {{"neg", UnaryOp::kNeg}, {"abs", UnaryOp::kAbs}};
  if (dtype.is_float()) {
    ops.insert(ops.end(), {{"sqrt", UnaryOp::kSqrt},
                           {"floor", UnaryOp::kFloor},
                           {"ceil", UnaryOp::kCeil},
                           {"trunc", UnaryOp::kTrunc},
                           {"round_even", UnaryOp::kRoundEven}});
  } else {
    ops.push_back({"not", UnaryOp::kNot});
    if (dtype == DType::Int(32)) {
      ops.insert(ops.end(), {{"saturate_int8", UnaryOp::kSaturateInt8},
                             {"saturate_uint8", UnaryOp::kSaturateUint8},
                             {"saturate_int16", UnaryOp::kSaturateInt16},
                             {"saturate_uint16", UnaryOp::kSaturateUint16}});
    }
  }
  for (const auto& [name, op] : ops) {
    results.Add(name, dtype,
                [&](const Expr& i) { return loop::MakeUnary(op, loop::MakeLoad(a, {i})); });
  }
  results.Check({a}, {EdgeValues(dtype, kCount)});
}

TEST_P(ArithmeticTest, Binary) {
  const DType dtype = GetParam();
  const OperandPairs pairs = EdgePairs(dtype);
  const Buffer a = Param("a", dtype, {pairs.count}), b = Param("b", dtype, {pairs.count});
  Results results(pairs.count);
  std::vector<std::pair<const char*, BinaryOp>> ops;
  if (!dtype.is_bool()) {
    ops = {{"add", BinaryOp::kAdd}, {"sub", BinaryOp::kSub}, {"mul", BinaryOp::kMul},
           {"div", BinaryOp::kDiv}, {"min", BinaryOp::kMin}, {"max", BinaryOp::kMax}};
  }
  if (dtype.is_integral()) {
    ops.insert(ops.end(),
               {{"mod", BinaryOp::kMod}, {"shl", BinaryOp::kShl}, {"shr", BinaryOp::kShr}});
  }
  if (!dtype.is_float()) {
    ops.insert(ops.end(),
               {{"and", BinaryOp::kAnd}, {"or", BinaryOp::kOr}, {"xor", BinaryOp::kXor}});
  }
  if (dtype == DType::Int(32)) {
    ops.insert(ops.end(), {{"rounding_mul_high", BinaryOp::kRoundingMulHigh},
                           {"rounding_mul_top", BinaryOp::kRoundingMulTop},
                           {"rounding_shr", BinaryOp::kRoundingShr}});
  }
  for (const auto& [name, op] : ops) {
    results.Add(name, dtype, [&](const Expr& i) {
      return loop::MakeBinary(op, loop::MakeLoad(a, {i}), loop::MakeLoad(b, {i}));
    });
  }
  results.Check({a, b}, {pairs.left, pairs.right});
}

TEST_P(IntegerTest, DivisionByConstants) {
  const DType dtype = GetParam();
  constexpr int kCount = 256;
  const Buffer a = Param("a", dtype, {kCount});
  Results results(kCount);
  for (int64_t divisor : {0, 1, 2, 3, 7, 100, -1, -3}) {
    if (dtype.is_uint() && divisor < 0) continue;
    for (BinaryOp op : {BinaryOp::kDiv, BinaryOp::kMod}) {
      results.Add((op == BinaryOp::kDiv ? "div" : "mod") + std::to_string(divisor + 3), dtype,
                  [&](const Expr& i) {
                    const Expr x = loop::MakeLoad(a, {i});
                    return loop::MakeBinary(op, x, loop::IntConst(x.type(), divisor));
                  });
    }
  }
  results.Check({a}, {EdgeValues(dtype, kCount)});
}

TEST_P(ArithmeticTest, CompareAndSelect) {
  const DType dtype = GetParam();
  const OperandPairs pairs = EdgePairs(dtype);
  const Buffer a = Param("a", dtype, {pairs.count}), b = Param("b", dtype, {pairs.count});
  Results results(pairs.count);
  const std::pair<const char*, CompareOp> ops[] = {{"eq", CompareOp::kEq}, {"ne", CompareOp::kNe},
                                                   {"lt", CompareOp::kLt}, {"le", CompareOp::kLe},
                                                   {"gt", CompareOp::kGt}, {"ge", CompareOp::kGe}};
  for (const auto& [name, op] : ops) {
    if (dtype.is_bool() && op != CompareOp::kEq && op != CompareOp::kNe) continue;
    results.Add(name, DType::Bool(), [&](const Expr& i) {
      return loop::MakeCompare(op, loop::MakeLoad(a, {i}), loop::MakeLoad(b, {i}));
    });
    results.Add(std::string("select_") + name, dtype, [&](const Expr& i) {
      const Expr x = loop::MakeLoad(a, {i}), y = loop::MakeLoad(b, {i});
      return loop::MakeSelect(loop::MakeCompare(op, x, y), x, y);
    });
  }
  results.Check({a, b}, {pairs.left, pairs.right});
}

TEST_P(ArithmeticTest, CastToEveryType) {
  const DType dtype = GetParam();
  constexpr int kCount = 256;
  const Buffer a = Param("a", dtype, {kCount});
  Results results(kCount);
  for (DType to : AllDtypes()) {
    results.Add("to_" + to.ToString(), to,
                [&](const Expr& i) { return loop::MakeCast(to, loop::MakeLoad(a, {i})); });
  }
  results.Check({a}, {EdgeValues(dtype, kCount)});
}

TEST_P(ArithmeticTest, Bitcast) {
  const DType dtype = GetParam();
  constexpr int kCount = 256;
  const Buffer a = Param("a", dtype, {kCount});
  Results results(kCount);
  for (DType to : AllDtypes()) {
    if (to.bits != dtype.bits) continue;  // Bool has a test of its own
    results.Add("as_" + to.ToString(), to,
                [&](const Expr& i) { return loop::MakeBitcast(to, loop::MakeLoad(a, {i})); });
  }
  results.Check({a}, {EdgeValues(dtype, kCount)});
}

TEST_P(FloatTest, Fma) {
  const DType dtype = GetParam();
  const OperandPairs pairs = EdgePairs(dtype);
  const Buffer a = Param("a", dtype, {pairs.count}), b = Param("b", dtype, {pairs.count}),
               c = Param("c", dtype, {pairs.count});
  for (const Target& target : RunnableTargets()) {
    // Without the instruction, float64 is not supported.
    if (!target.has_fma && dtype.bits == 64) continue;
    for (int lanes : {1, kLanes}) {
      const Buffer out = Param("out", dtype, {pairs.count});
      const Var i = loop::MakeVar("i");
      const Expr index = lanes == 1 ? Expr(i) : loop::MakeRamp(i * lanes, 1, lanes);
      const Expr fma = loop::MakeFma(loop::MakeLoad(a, {index}), loop::MakeLoad(b, {index}),
                                     loop::MakeLoad(c, {index}));
      const Stmt body = loop::MakeFor(i, 0, pairs.count / lanes, loop::ForKind::kSerial,
                                      loop::MakeStore(out, {index}, fma));
      ExpectSameBits(OneFunc({a, b, c, out}, 3, body), "f",
                     {pairs.left, pairs.right, EdgeValues(dtype, pairs.count, 5),
                      std::string(out->num_bytes(), '\0')},
                     target);
    }
  }
}

// Arithmetic that replaces instructions which the machine lacks.
TEST_P(FloatTest, SoftwareArithmetic) {
  const DType dtype = GetParam();
  constexpr int kCount = 4096;
  const Buffer a = Param("a", dtype, {kCount});
  std::vector<Buffer> params = {a};
  std::vector<std::string> args = {EdgeValues(dtype, kCount)};
  std::vector<Stmt> stores;
  for (UnaryOp op :
       {UnaryOp::kSqrt, UnaryOp::kFloor, UnaryOp::kCeil, UnaryOp::kTrunc, UnaryOp::kRoundEven}) {
    for (int lanes : {1, kLanes}) {
      params.push_back(Param("out" + std::to_string(params.size()), dtype, {kCount}));
      args.push_back(std::string(params.back()->num_bytes(), '\0'));
      const Var i = loop::MakeVar("i");
      const Expr index = lanes == 1 ? Expr(i) : loop::MakeRamp(i * lanes, 1, lanes);
      stores.push_back(
          loop::MakeFor(i, 0, kCount / lanes, loop::ForKind::kSerial,
                        loop::MakeStore(params.back(), {index},
                                        loop::MakeUnary(op, loop::MakeLoad(a, {index})))));
    }
  }
  const loop::LoopProgram program = OneFunc(params, 1, loop::MakeBlock(stores));
  absl::StatusOr<std::string> object =
      EmitObjectWithTraits(program, Target::Host(), {}, MachineTraits{});
  ASSERT_TRUE(object.ok()) << object.status();
  absl::StatusOr<std::unique_ptr<Jit>> jit = Jit::FromObject(*object, Target::Host());
  ASSERT_TRUE(jit.ok()) << jit.status();
  ExpectSameBits(program, "f", args, **jit, "software");
}

// Assembly of rounding_mul_top of `a` by `b`, or by a number, with `lanes` lanes.
std::string UpperWords(const Target& target, int lanes, bool by_number) {
  const DType dtype = DType::Int(32);
  const Buffer a = Param("a", dtype, {64}), b = Param("b", dtype, {64}),
               out = Param("out", dtype, {64});
  const Var i = loop::MakeVar("i");
  const Expr index = lanes == 1 ? Expr(i) : loop::MakeRamp(i * Expr(lanes), 1, lanes);
  const Expr by = by_number ? loop::IntConst(loop::Type::Of(dtype, lanes), 1518500250)
                            : loop::MakeLoad(b, {index});
  const Stmt store =
      loop::MakeStore(out, {index}, loop::RoundingMulTop(loop::MakeLoad(a, {index}), by));
  const auto text = EmitAssembly(
      OneFunc({a, b, out}, 2, loop::MakeFor(i, 0, 64 / lanes, loop::ForKind::kSerial, store)),
      target);
  EXPECT_TRUE(text.ok()) << text.status();
  return text.value_or("");
}

TEST(FixedPointTest, UpperWordsAreOneInstruction) {
  for (const bool by_number : {false, true}) {
    const std::string dsp = UpperWords(*Target::Parse("cortex-m4f"), 1, by_number);
    EXPECT_NE(dsp.find("smmulr"), std::string::npos) << dsp;
    EXPECT_EQ(dsp.find("umlal"), std::string::npos) << dsp;
    const std::string helium = UpperWords(*Target::Parse("cortex-m55"), 4, by_number);
    EXPECT_NE(helium.find("vrmulh.s32"), std::string::npos) << helium;
    // Even and odd lanes are multiplied separately; the upper words of the odd products are not
    // moved.
    const std::string avx2 = UpperWords(*Target::Parse("x86-64-v3"), 8, by_number);
    EXPECT_NE(avx2.find("vpmuldq"), std::string::npos) << avx2;
    EXPECT_EQ(avx2.find("vpsllq"), std::string::npos) << avx2;
    // One permutation combines both.
    const std::string avx512 = UpperWords(*Target::Parse("x86-64-v4"), 16, by_number);
    EXPECT_NE(avx512.find("vpermt2d"), std::string::npos) << avx512;
  }
}

}  // namespace
}  // namespace kiln::codegen
