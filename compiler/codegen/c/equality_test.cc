// SPDX-License-Identifier: Apache-2.0
// Every operation on every dtype at edge values, and random expressions. Generated C computes the
// interpreter's bits, with gcc and clang, with and without the C library. It compiles without a
// warning, also for 32 bits.
#include <cstring>
#include <random>

#include "absl/strings/str_cat.h"
#include "compiler/codegen/c/c_compiler.h"
#include "compiler/codegen/c/codegen_c.h"
#include "compiler/loop/float16_values.h"
#include "compiler/loop/interpret.h"
#include "compiler/loop/loop.h"
#include "gtest/gtest.h"

namespace kiln::codegen {
namespace {

using loop::BinaryOp;
using loop::Buffer;
using loop::BufferScope;
using loop::CompareOp;
using loop::Expr;
using loop::UnaryOp;
using loop::Var;

const std::vector<DType>& AllDTypes() {
  static const auto* const dtypes =
      new std::vector<DType>{DType::Int(8),    DType::Int(16),   DType::Int(32),  DType::Int(64),
                             DType::UInt(8),   DType::UInt(16),  DType::UInt(32), DType::UInt(64),
                             DType::Float(32), DType::Float(64), DType::Bool()};
  return *dtypes;
}

template <typename T>
std::string BytesOf(const std::vector<double>& values) {
  std::string bytes;
  for (double v : values) {
    const T t = static_cast<T>(v);
    bytes.append(reinterpret_cast<const char*>(&t), sizeof(t));
  }
  return bytes;
}

// The bytes of values at which operations on `dtype` are easily wrong.
std::string EdgeValues(DType dtype) {
  if (dtype.is_float()) {
    const double inf = std::numeric_limits<double>::infinity();
    std::vector<double> v = {0.0,        1,
                             0.5,        1.5,
                             2.5,        3.5,
                             0.75,       1e-45,
                             1e-38,      3.4e38,
                             127,        127.5,
                             128,        128.5,
                             129,        255,
                             255.9,      256,
                             32767.5,    32768,
                             65535.5,    65536,
                             2147483520, 2147483647,
                             2147483648, 4294967040,
                             4294967295, 4294967296,
                             8388607.5,  8388608,
                             8388609,    4503599627370495.5,
                             9.2e18,     9223372036854775808.0,
                             1.8e19,     18446744073709551616.0,
                             1e30,       0.1,
                             3,          inf};
    const size_t n = v.size();
    for (size_t i = 0; i < n; ++i) v.push_back(-v[i]);
    v.push_back(std::numeric_limits<double>::quiet_NaN());
    if (dtype.bits == 64) v.insert(v.end(), {5e-324, 1.7e308, 2.2250738585072011e-308});
    return dtype.bits == 32 ? BytesOf<float>(v) : BytesOf<double>(v);
  }
  if (dtype.is_bool()) return std::string("\0\1", 2);
  std::string bytes;
  const int64_t max = dtype.MaxInt(), min = dtype.MinInt();
  for (int64_t v :
       {int64_t{0}, int64_t{1}, int64_t{-1}, int64_t{2}, int64_t{3}, int64_t{7}, int64_t{-7},
        int64_t{31}, int64_t{33}, int64_t{64}, int64_t{100}, min, min + 1, max, max - 1, max / 2,
        int64_t{1} << (dtype.bits / 2), int64_t{0x5555555555555555}}) {
    bytes.append(reinterpret_cast<const char*>(&v), static_cast<size_t>(dtype.bytes()));
  }
  return bytes;
}

// One function with its inputs. The output is the last parameter.
struct Case {
  loop::Func func;
  std::vector<std::string> inputs;
  bool uses_fma = false;
};

// A function that sets out[i] = value for i < n; `value` is a function of the inputs at i.
template <typename F>
Case MakeCase(const std::string& name, const std::vector<DType>& dtypes,
              std::vector<std::string> inputs, F value) {
  const int64_t n = static_cast<int64_t>(inputs[0].size()) / dtypes[0].bytes();
  Case result;
  const Var i = loop::MakeVar("i");
  std::vector<Expr> args;
  for (size_t k = 0; k < inputs.size(); ++k) {
    const Buffer buffer =
        loop::MakeBuffer(absl::StrCat("in", k), dtypes[k], {n}, BufferScope::kParam);
    result.func.params.push_back(buffer);
    args.push_back(loop::MakeLoad(buffer, {i}));
  }
  const Expr e = value(args);
  const Buffer out = loop::MakeBuffer("out", e.type().dtype, {n}, BufferScope::kParam);
  result.func.params.push_back(out);
  result.func.name = name;
  result.func.num_inputs = static_cast<int>(inputs.size());
  result.func.body =
      loop::MakeFor(i, Expr(0), Expr(n), loop::ForKind::kVectorized, loop::MakeStore(out, {i}, e));
  result.inputs = std::move(inputs);
  return result;
}

// All pairs of edge values.
std::vector<std::string> Pairs(DType dtype) {
  const std::string edges = EdgeValues(dtype);
  const size_t size = static_cast<size_t>(dtype.bytes());
  std::vector<std::string> result(2);
  for (size_t i = 0; i < edges.size(); i += size) {
    for (size_t j = 0; j < edges.size(); j += size) {
      result[0].append(edges, i, size);
      result[1].append(edges, j, size);
    }
  }
  return result;
}

bool IsDefined(BinaryOp op, DType dtype) {
  if (op == BinaryOp::kRoundingMulHigh || op == BinaryOp::kRoundingMulTop ||
      op == BinaryOp::kRoundingShr) {
    return dtype == DType::Int(32);
  }
  if (op == BinaryOp::kAnd || op == BinaryOp::kOr || op == BinaryOp::kXor) return !dtype.is_float();
  if (op == BinaryOp::kMod || op == BinaryOp::kShl || op == BinaryOp::kShr)
    return dtype.is_integral();
  return !dtype.is_bool();
}

std::vector<Case> OperationCases() {
  std::vector<Case> cases;
  for (DType dtype : AllDTypes()) {
    const std::string name = dtype.ToString();
    for (int op = 0; op <= static_cast<int>(BinaryOp::kRoundingShr); ++op) {
      const auto binary = static_cast<BinaryOp>(op);
      if (!IsDefined(binary, dtype)) continue;
      cases.push_back(MakeCase(absl::StrCat("binary", op, "_", name), {dtype, dtype}, Pairs(dtype),
                               [&](const auto& x) { return MakeBinary(binary, x[0], x[1]); }));
      if (!dtype.is_integral()) continue;
      int k = 0;
      for (int64_t c : {int64_t{-1}, int64_t{0}, int64_t{1}, int64_t{3}, int64_t{33},
                        dtype.MinInt(), dtype.MaxInt()}) {
        if (dtype.is_uint() && c < 0 && c != dtype.MaxInt()) continue;
        cases.push_back(MakeCase(absl::StrCat("const", op, "_", k++, "_", name), {dtype},
                                 {EdgeValues(dtype)}, [&](const auto& x) {
                                   const Expr constant = loop::IntConst(loop::Type::Of(dtype), c);
                                   return k % 2 == 0 ? MakeBinary(binary, x[0], constant)
                                                     : MakeBinary(binary, constant, x[0]);
                                 }));
      }
    }
    for (int op = 0; op <= static_cast<int>(CompareOp::kGe); ++op) {
      const auto compare = static_cast<CompareOp>(op);
      cases.push_back(MakeCase(absl::StrCat("compare", op, "_", name), {dtype, dtype}, Pairs(dtype),
                               [&](const auto& x) { return MakeCompare(compare, x[0], x[1]); }));
      if (!dtype.is_integral()) continue;
      int k = 0;
      for (int64_t c : {dtype.MinInt(), dtype.MaxInt(), int64_t{0}}) {
        cases.push_back(MakeCase(absl::StrCat("limit", op, "_", k++, "_", name), {dtype},
                                 {EdgeValues(dtype)}, [&](const auto& x) {
                                   return MakeCompare(compare, x[0],
                                                      loop::IntConst(loop::Type::Of(dtype), c));
                                 }));
      }
    }
    for (int op = 0; op <= static_cast<int>(UnaryOp::kSaturateUint16); ++op) {
      const auto unary = static_cast<UnaryOp>(op);
      if (unary == UnaryOp::kNot ? dtype.is_float() : dtype.is_bool()) continue;
      const bool of_int32 = loop::SaturationOf(unary).has_value();
      if (of_int32 ? dtype != DType::Int(32)
                   : op >= static_cast<int>(UnaryOp::kSqrt) && !dtype.is_float()) {
        continue;
      }
      cases.push_back(MakeCase(absl::StrCat("unary", op, "_", name), {dtype}, {EdgeValues(dtype)},
                               [&](const auto& x) { return MakeUnary(unary, x[0]); }));
    }
    for (DType to : AllDTypes()) {
      cases.push_back(MakeCase(absl::StrCat("cast_", name, "_", to.ToString()), {dtype},
                               {EdgeValues(dtype)},
                               [&](const auto& x) { return MakeCast(to, x[0]); }));
      if (to.bits == dtype.bits && !to.is_bool()) {
        cases.push_back(MakeCase(absl::StrCat("bits_", name, "_", to.ToString()), {dtype},
                                 {EdgeValues(dtype)},
                                 [&](const auto& x) { return MakeBitcast(to, x[0]); }));
      }
    }
    std::vector<std::string> select = Pairs(dtype);
    std::string conditions;
    for (size_t i = 0; i < select[0].size() / static_cast<size_t>(dtype.bytes()); ++i)
      conditions.push_back(i % 3 == 0);
    cases.push_back(MakeCase(absl::StrCat("select_", name), {DType::Bool(), dtype, dtype},
                             {conditions, select[0], select[1]},
                             [&](const auto& x) { return MakeSelect(x[0], x[1], x[2]); }));
    if (dtype.is_float()) {
      std::vector<std::string> pairs = Pairs(dtype);
      std::string third = pairs[1].substr(static_cast<size_t>(5 * dtype.bytes())) +
                          pairs[1].substr(0, static_cast<size_t>(5 * dtype.bytes()));
      // Contraction would change this: the product is rounded before the addition.
      cases.push_back(MakeCase(absl::StrCat("product_sum_", name), {dtype, dtype, dtype},
                               {pairs[0], pairs[1], third},
                               [&](const auto& x) { return x[0] * x[1] + x[2]; }));
      cases.push_back(MakeCase(absl::StrCat("fma_", name), {dtype, dtype, dtype},
                               {pairs[0], pairs[1], third},
                               [&](const auto& x) { return MakeFma(x[0], x[1], x[2]); }));
      cases.back().uses_fma = true;
    }
  }
  return cases;
}

// Conversions of float16, and moves of float16 values.
std::vector<Case> HalfCases() {
  static constexpr DType kHalf = DType::Float(16), kFloat = DType::Float(32);
  const std::string halves = loop::AllHalves();
  std::vector<Case> cases;
  cases.push_back(MakeCase("half_to_float", {kHalf}, {halves},
                           [](const auto& x) { return MakeCast(kFloat, x[0]); }));
  cases.push_back(MakeCase("float_to_half", {kFloat}, {loop::FloatsAroundHalves()},
                           [](const auto& x) { return MakeCast(kHalf, x[0]); }));
  cases.push_back(MakeCase("half_product_sum", {kHalf}, {halves}, [](const auto& x) {
    const Expr wide = MakeCast(kFloat, x[0]);
    return MakeCast(kHalf, wide * wide + wide);
  }));
  // Results are integers, so that the bits of NaNs are compared.
  for (DType bits : {DType::UInt(16), DType::Int(16)}) {
    cases.push_back(
        MakeCase(absl::StrCat("half_as_", bits.ToString()), {kHalf}, {halves}, [&](const auto& x) {
          const Expr constant = loop::FloatConst(x[0].type(), 0x1.8p-24);
          const Expr low = MakeBitcast(bits, x[0]) < loop::Const(bits, 9000);
          return MakeBitcast(bits, MakeSelect(low, x[0], constant));
        }));
    cases.push_back(MakeCase(absl::StrCat("half_from_", bits.ToString()), {bits}, {halves},
                             [](const auto& x) { return MakeBitcast(kHalf, x[0]); }));
  }
  return cases;
}

// A random expression. It reuses earlier nodes, so that it is a DAG.
class RandomExpr {
 public:
  RandomExpr(unsigned seed, std::vector<Expr> leaves) : random_(seed), nodes_(std::move(leaves)) {}

  Expr Make(int steps) {
    for (int s = 0; s < steps; ++s) nodes_.push_back(Step());
    Expr e = nodes_.back();
    return e.type().dtype.is_bool() ? MakeCast(DType::UInt(8), e) : e;
  }

 private:
  int Below(size_t n) { return static_cast<int>(random_() % n); }
  Expr Any() {
    const size_t from = Below(3) == 0 ? 0 : nodes_.size() / 2;
    return nodes_[from + static_cast<size_t>(Below(nodes_.size() - from))];
  }
  Expr As(DType dtype) {
    if (dtype.is_integral() && Below(5) == 0) {
      return loop::IntConst(loop::Type::Of(dtype),
                            dtype.bits < 64 && Below(2) == 0 ? dtype.MaxInt() : Below(100));
    }
    return MakeCast(dtype, Any());
  }
  Expr Step() {
    const Expr a = Any();
    const DType dtype = a.type().dtype;
    switch (Below(6)) {
      case 0:
        return MakeCast(AllDTypes()[static_cast<size_t>(Below(AllDTypes().size()))], a);
      case 1:
        return MakeCompare(static_cast<CompareOp>(Below(6)), a, As(dtype));
      case 2: {
        const Expr condition = MakeCast(DType::Bool(), Any());
        return MakeSelect(condition, a, As(dtype));
      }
      case 3:
        if (dtype.is_bool()) return Not(a);
        if (dtype == DType::Int(32) && Below(2) == 0) {
          return MakeUnary(loop::kSaturations[Below(4)].op, a);
        }
        return MakeUnary(Below(2) == 0 ? UnaryOp::kNeg : UnaryOp::kAbs, a);
      default:
        break;
    }
    BinaryOp op;
    do op = static_cast<BinaryOp>(Below(12));
    while (!IsDefined(op, dtype));
    return MakeBinary(op, a, As(dtype));
  }

  std::mt19937 random_;
  std::vector<Expr> nodes_;
};

std::vector<Case> RandomCases() {
  std::vector<Case> cases;
  for (unsigned seed = 0; seed < 120; ++seed) {
    std::vector<std::string> inputs;
    std::mt19937 random(seed);
    for (DType dtype : AllDTypes()) {
      const std::string edges = EdgeValues(dtype);
      const size_t size = static_cast<size_t>(dtype.bytes());
      std::string values;
      for (int i = 0; i < 64; ++i)
        values.append(edges, random() % (edges.size() / size) * size, size);
      inputs.push_back(std::move(values));
    }
    cases.push_back(MakeCase(absl::StrCat("random", seed), AllDTypes(), std::move(inputs),
                             [&](const auto& x) { return RandomExpr(seed, x).Make(25); }));
  }
  return cases;
}

// True if the bits are equal, except that all NaNs are equal.
bool SameValues(DType dtype, const std::string& a, const std::string& b, std::string* where) {
  const size_t size = static_cast<size_t>(dtype.bytes());
  for (size_t i = 0; i < a.size(); i += size) {
    if (memcmp(&a[i], &b[i], size) == 0) continue;
    const double x = Tensor({{}, dtype}, a.substr(i, size)).AsDouble(0);
    const double y = Tensor({{}, dtype}, b.substr(i, size)).AsDouble(0);
    if (x != x && y != y) continue;
    *where = absl::StrCat("element ", i / size, ": interpreter ", x, ", C ", y);
    return false;
  }
  return true;
}

struct Compilation {
  std::vector<std::string> command;
  bool libm;
  bool fma;
};

class EqualityTest : public testing::Test {
 protected:
  // No case reads the bits of a float that may be NaN, because these differ.
  void Compare(const std::vector<Case>& all_cases, const Compilation& compilation) {
    if (!HasCompiler(compilation.command[0])) GTEST_SKIP() << "no " << compilation.command[0];
    std::vector<const Case*> cases;
    loop::LoopProgram program;
    for (const Case& c : all_cases) {
      if (c.uses_fma && !compilation.fma) continue;
      cases.push_back(&c);
      program.funcs.push_back(c.func);
    }
    auto source = EmitC(program, Target::Host(), {.libm = compilation.libm});
    ASSERT_TRUE(source.ok()) << source.status();
    auto library = LoadedC::Compile(*source, compilation.command);
    ASSERT_TRUE(library.ok()) << library.status().message();
    loop::Interpreter interpreter(program);
    for (const Case* c : cases) {
      const loop::BufferNode& out = *c->func.params.back();
      std::string expected(static_cast<size_t>(out.num_bytes()), '\0'), actual = expected, where;
      std::vector<void*> args;
      for (const std::string& input : c->inputs) args.push_back(const_cast<char*>(input.data()));
      args.push_back(expected.data());
      ASSERT_TRUE(interpreter.Run(c->func.name, args).ok()) << c->func.name;
      args.back() = actual.data();
      void* symbol = (*library)->Symbol(c->func.name);
      ASSERT_NE(symbol, nullptr) << c->func.name;
      Call(symbol, args);
      EXPECT_TRUE(SameValues(out.dtype, expected, actual, &where))
          << c->func.name << " " << where << "\n"
          << ToString(c->func);
    }
  }

 private:
  static void Call(void* symbol, const std::vector<void*>& a) {
    // Extra arguments do no harm in the calling conventions of the machines that tests run on.
    using F =
        int32_t(void*, void*, void*, void*, void*, void*, void*, void*, void*, void*, void*, void*);
    std::vector<void*> args = a;
    args.resize(12);
    EXPECT_EQ(reinterpret_cast<F*>(symbol)(args[0], args[1], args[2], args[3], args[4], args[5],
                                           args[6], args[7], args[8], args[9], args[10], args[11]),
              0);
  }
};

const Compilation kGcc = {{"gcc", "-std=gnu99", "-O3", "-march=native"}, true, true};
// clang 19 enables AVX10 on processors that have it, and warns about the name itself.
const Compilation kClang = {
    {"clang-19", "-std=c99", "-O2", "-march=native", "-Wno-invalid-feature-combination"},
    true,
    true};
const Compilation kGccPlain = {{"gcc", "-std=c99", "-O1"}, false, false};
const Compilation kClangPlain = {{"clang-19", "-std=c99", "-O1", "-ffreestanding"}, false, false};

TEST_F(EqualityTest, OperationsWithGcc) { Compare(OperationCases(), kGcc); }
TEST_F(EqualityTest, OperationsWithClang) { Compare(OperationCases(), kClang); }
TEST_F(EqualityTest, OperationsWithGccWithoutLibm) { Compare(OperationCases(), kGccPlain); }
TEST_F(EqualityTest, OperationsWithClangWithoutLibm) { Compare(OperationCases(), kClangPlain); }
TEST_F(EqualityTest, HalvesWithGcc) { Compare(HalfCases(), kGcc); }
TEST_F(EqualityTest, HalvesWithClang) { Compare(HalfCases(), kClang); }
TEST_F(EqualityTest, HalvesWithGccWithoutLibm) { Compare(HalfCases(), kGccPlain); }
TEST_F(EqualityTest, HalvesWithClangWithoutLibm) { Compare(HalfCases(), kClangPlain); }
// If gcc 12 knows that b is 0 or 1, it warns about `a - (uint32_t)b` on unsigned numbers, as if the
// conversion of unsigned int to uint32_t might change the sign. Only the bits matter here.
TEST_F(EqualityTest, RandomExpressionsWithGcc) {
  const Compilation gcc = {{"gcc", "-std=gnu99", "-O3", "-march=native"}, true, true};
  Compare(RandomCases(), gcc);
}
TEST_F(EqualityTest, RandomExpressionsWithClang) { Compare(RandomCases(), kClang); }

TEST(Warnings, NoneFor32Bits) {
  loop::LoopProgram program;
  for (const Case& c : OperationCases()) program.funcs.push_back(c.func);
  for (const Case& c : HalfCases()) program.funcs.push_back(c.func);
  for (const Case& c : RandomCases()) program.funcs.push_back(c.func);
  Target target;
  target.pointer_bits = 32;
  auto source = EmitC(program, target, {});
  ASSERT_TRUE(source.ok()) << source.status();
  const absl::Status arm =
      CheckC(*source, {"arm-none-eabi-gcc", "-std=c99", "-mcpu=cortex-m4", "-O1"});
  if (arm.code() == absl::StatusCode::kNotFound) GTEST_SKIP() << "no arm-none-eabi-gcc";
  EXPECT_TRUE(arm.ok()) << arm.message();
}

}  // namespace
}  // namespace kiln::codegen
