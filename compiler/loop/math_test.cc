// SPDX-License-Identifier: Apache-2.0
// Errors of the elementary functions in units in the last place (ULP), against the C library in the
// next wider type. Points cover all magnitudes and, densely, the range in which each function
// varies. Values at special points are tested too.
#include "compiler/loop/math.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <limits>
#include <ostream>
#include <random>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/loop/mutate.h"
#include "compiler/loop/testing/math_error.h"
#include "gtest/gtest.h"

namespace kiln::loop {
namespace {

struct Function {
  const char* name;
  std::function<Expr(Expr)> build;
  double (*reference64)(double);
  long double (*reference80)(long double);
  double low, high;  // the range of the dense points
  double max_ulp32, max_ulp64;
};

std::ostream& operator<<(std::ostream& out, const Function& f) { return out << f.name; }

double SigmoidReference(double x) { return 1 / (1 + std::exp(-x)); }
long double SigmoidReference(long double x) { return 1 / (1 + std::exp(-x)); }
double SoftplusReference(double x) { return std::fmax(x, 0) + std::log1p(std::exp(-std::abs(x))); }
long double SoftplusReference(long double x) {
  return std::fmax(x, 0) + std::log1p(std::exp(-std::abs(x)));
}
double RsqrtReference(double x) { return 1 / std::sqrt(x); }
long double RsqrtReference(long double x) { return 1 / std::sqrt(x); }

const Function kFunctions[] = {
    {"Exp", Exp, std::exp, std::exp, -110, 90, 1, 1},
    {"Expm1", Expm1, std::expm1, std::expm1, -3, 3, 1.5, 2.5},
    {"Log", Log, std::log, std::log, 0.4, 3, 1, 1.5},
    {"Log1p", Log1p, std::log1p, std::log1p, -1, 3, 1.5, 1.5},
    {"Log2", Log2, std::log2, std::log2, 0.4, 3, 2, 2},
    {"Log10", Log10, std::log10, std::log10, 0.4, 3, 2, 2},
    {"Sin", Sin, std::sin, std::sin, -10, 10, 3, 3},
    {"Cos", Cos, std::cos, std::cos, -10, 10, 3, 3},
    {"Tan", Tan, std::tan, std::tan, -10, 10, 4, 4},
    {"Asin", Asin, std::asin, std::asin, -1, 1, 2.5, 2.5},
    {"Acos", Acos, std::acos, std::acos, -1, 1, 1.5, 1.5},
    {"Atan", Atan, std::atan, std::atan, -4, 4, 2.5, 2},
    {"Sinh", Sinh, std::sinh, std::sinh, -3, 3, 2, 2},
    {"Cosh", Cosh, std::cosh, std::cosh, -3, 3, 1.5, 1.5},
    {"Tanh", Tanh, std::tanh, std::tanh, -10, 10, 2.5, 2.5},
    {"Asinh", Asinh, std::asinh, std::asinh, -3, 3, 2, 2.5},
    {"Acosh", Acosh, std::acosh, std::acosh, 1, 4, 3, 3},
    {"Atanh", Atanh, std::atanh, std::atanh, -1, 1, 2, 2},
    {"Erf", Erf, std::erf, std::erf, -6, 6, 3, 1.5},
    {"Sigmoid", Sigmoid, SigmoidReference, SigmoidReference, -20, 20, 2.5, 2.5},
    {"Softplus", Softplus, SoftplusReference, SoftplusReference, -20, 20, 2.5, 3},
    {"Rsqrt", Rsqrt, RsqrtReference, RsqrtReference, 0.1, 10, 1.5, 1.5},
};

constexpr double kMaxPowUlp32 = 1;
constexpr double kMaxPowUlp64 = 1.5;
constexpr double kMaxConstantPowUlp = 2.5;

class UlpTest : public ::testing::TestWithParam<Function> {};

template <typename T, typename Wide>
void CheckFunction(const Function& f, Wide (*reference)(Wide), double max_ulp) {
  std::vector<T> points = SpecialPoints<T>();
  for (T x : AllMagnitudes<T>(NumPoints())) points.push_back(x);
  Append(points, f.low, f.high, NumPoints());
  const std::vector<T> got = Evaluate<T>([&](Expr x, Expr) { return f.build(x); }, points, points);
  double worst = 0;
  T worst_x = 0;
  for (size_t i = 0; i < points.size(); ++i) {
    const T x = points[i];
    const Wide want = reference(static_cast<Wide>(x));
    const double error = UlpError<T, Wide>(got[i], want);
    if (error > worst) {
      worst = error;
      worst_x = x;
    }
    if (want == 0 && got[i] == 0) {
      EXPECT_EQ(std::signbit(got[i]), std::signbit(want)) << f.name << "(" << x << ")";
    }
  }
  EXPECT_LE(worst, max_ulp) << f.name << "(" << absl::StrCat(worst_x) << ")";
  ::testing::Test::RecordProperty(absl::StrCat("ulp", 8 * sizeof(T)), absl::StrCat(worst));
  if (std::getenv("KILN_MATH_TEST_POINTS") != nullptr) {
    std::printf("%-8s float%zu: %.3f ULP at %.17g\n", f.name, 8 * sizeof(T), worst,
                static_cast<double>(worst_x));
  }
}

TEST_P(UlpTest, Float32) {
  CheckFunction<float, double>(GetParam(), GetParam().reference64, GetParam().max_ulp32);
}

TEST_P(UlpTest, Float64) {
  CheckFunction<double, long double>(GetParam(), GetParam().reference80, GetParam().max_ulp64);
}

INSTANTIATE_TEST_SUITE_P(All, UlpTest, ::testing::ValuesIn(kFunctions),
                         [](const auto& info) { return info.param.name; });

// Functions that operators compute with fused multiply-adds on machines that have them.
double ExpOfMinusAbs(double x) {
  const double exponent = -std::abs(x) / std::log(2);
  return exponent < -126.5 ? 0 : std::exp2(exponent);
}
const Function kFusedFunctions[] = {
    {"Exp", Exp, std::exp, std::exp, -110, 90, 1, 1},
    {"ExpOfNonPositive", [](Expr x) { return ExpOfNonPositive(-Abs(std::move(x))); }, ExpOfMinusAbs,
     nullptr, -110, 0, 1, 1},
    {"Expm1", Expm1, std::expm1, std::expm1, -3, 3, 1.5, 2.5},
    {"Softplus", Softplus, SoftplusReference, SoftplusReference, -20, 20, 2.5, 3},
    {"Tanh", Tanh, std::tanh, std::tanh, -10, 10, 2.5, 2.5},
    {"Erf", Erf, std::erf, std::erf, -6, 6, 3, 1.5},
    {"Sigmoid", Sigmoid, SigmoidReference, SigmoidReference, -20, 20, 2.5, 2.5},
};

int CountFused(const Expr& e) {
  int fused = 0;
  VisitExpr(e, [&](const Expr& part) { fused += part.As<Fma>() != nullptr ? 1 : 0; });
  return fused;
}

class FusedTest : public ::testing::TestWithParam<Function> {};

TEST_P(FusedTest, KeepsItsError) {
  Function f = GetParam();
  f.build = [build = f.build](Expr x) { return FuseMultiplyAdds(build(std::move(x))); };
  CheckFunction<float, double>(f, f.reference64, f.max_ulp32);
  EXPECT_GE(CountFused(f.build(MakeVar("x", Type::Of(DType::Float(32))))), 7);
}

INSTANTIATE_TEST_SUITE_P(All, FusedTest, ::testing::ValuesIn(kFusedFunctions),
                         [](const auto& info) { return info.param.name; });

TEST(FuseMultiplyAddsTest, SumsAndDifferencesWithProducts) {
  const auto var = [](const char* name, DType dtype = DType::Float(32)) -> Expr {
    return MakeVar(name, Type::Of(dtype));
  };
  const Expr x = var("x"), y = var("y"), z = var("z");
  EXPECT_EQ(ToString(FuseMultiplyAdds(x * y + z)), "fma(x, y, z)");
  EXPECT_EQ(ToString(FuseMultiplyAdds(z + x * y)), "fma(x, y, z)");
  EXPECT_EQ(ToString(FuseMultiplyAdds(z - x * y)), "fma(-x, y, z)");
  EXPECT_EQ(ToString(FuseMultiplyAdds(z - x * Const(x.type(), 2))), "fma(x, -2f32, z)");
  EXPECT_EQ(ToString(FuseMultiplyAdds(x * y - z)), "fma(x, y, -z)");
  EXPECT_EQ(ToString(FuseMultiplyAdds((x * y + z) * x + y)), "fma(fma(x, y, z), x, y)");
  const Expr wide = var("w", DType::Float(64)), whole = var("i", DType::Int(32));
  EXPECT_EQ(CountFused(FuseMultiplyAdds(wide * wide + wide)), 0);
  EXPECT_EQ(ToString(FuseMultiplyAdds(whole * whole + whole)), ToString(whole * whole + whole));
}

// Number of operations on `x`, a float32. Bitcasts do not count.
int CountOperations(Expr (*build)(Expr)) {
  int operations = 0;
  VisitExpr(build(MakeVar("x", Type::Of(DType::Float(32)))), [&](const Expr& e) {
    const bool computes = e.As<Unary>() != nullptr || e.As<Binary>() != nullptr ||
                          e.As<Compare>() != nullptr || e.As<Select>() != nullptr;
    operations += computes ? 1 : 0;
  });
  return operations;
}

// Networks compute these on every output of a layer.
TEST(CostTest, ActivationsAreShort) {
  EXPECT_LE(CountOperations(Sigmoid), 25);
  EXPECT_LE(CountOperations(Tanh), 32);
}

TEST(PageTest, StatesTheErrors) {
  std::ifstream file("docs/loop_ir.md");
  std::stringstream page;
  page << file.rdbuf();
  const auto expect_row = [&](const char* name, double ulp32, double ulp64) {
    const std::string row = absl::StrCat("| ", name, " | ", ulp32, " | ", ulp64, " |\n");
    EXPECT_TRUE(absl::StrContains(page.str(), row)) << row;
  };
  for (const Function& f : kFunctions) expect_row(f.name, f.max_ulp32, f.max_ulp64);
  expect_row("Pow", kMaxPowUlp32, kMaxPowUlp64);
  expect_row("Pow by a constant", kMaxConstantPowUlp, kMaxConstantPowUlp);
}

template <typename T, typename Wide>
void CheckPow(double max_ulp) {
  std::vector<T> x, y;
  // Every pair of special values.
  using Limits = std::numeric_limits<T>;
  const T special[] = {0,
                       0.5,
                       1,
                       1.5,
                       2,
                       3,
                       10,
                       1e30f,
                       Limits::min(),
                       Limits::denorm_min(),
                       Limits::max(),
                       Limits::infinity(),
                       Limits::quiet_NaN()};
  for (T a : special) {
    for (T b : special) {
      for (T sa : {T{1}, T{-1}}) {
        for (T sb : {T{1}, T{-1}}) {
          x.push_back(sa * a);
          y.push_back(sb * b);
        }
      }
    }
  }
  // Random bases, with exponents that spread the results over the range. Negative bases have
  // integral exponents.
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> unit(-1, 1);
  for (int i = 0; i < NumPoints(); ++i) {
    const double range = std::ldexp(1.0, static_cast<int>(random() % Limits::max_exponent));
    T base = static_cast<T>(std::pow(range, unit(random)));
    if (i % 3 == 0) base = static_cast<T>(1 + unit(random) * 0.1);
    T exponent = static_cast<T>(unit(random) * Limits::max_exponent * 0.72 / std::log(base));
    if (i % 5 == 0) {
      exponent = std::nearbyint(exponent);
      base = -base;
    }
    x.push_back(base);
    y.push_back(exponent);
  }
  const std::vector<T> got = Evaluate<T>([](Expr a, Expr b) { return Pow(a, b); }, x, y);
  double worst = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const Wide want = std::pow(static_cast<Wide>(x[i]), static_cast<Wide>(y[i]));
    const double error = UlpError<T, Wide>(got[i], want);
    worst = std::max(worst, error);
    EXPECT_LE(error, max_ulp) << "Pow(" << x[i] << ", " << y[i] << ") = " << got[i] << ", not "
                              << want;
    if (want == 0 || std::isinf(want)) {
      EXPECT_EQ(std::signbit(got[i]), std::signbit(want)) << x[i] << ", " << y[i];
    }
  }
  if (std::getenv("KILN_MATH_TEST_POINTS") != nullptr) {
    std::printf("Pow      float%zu: %.3f ULP\n", 8 * sizeof(T), worst);
  }
}

// Constant exponents, which have shorter computations.
template <typename T, typename Wide>
void CheckConstantExponents(double max_ulp) {
  using Limits = std::numeric_limits<T>;
  std::vector<T> points = {0,
                           0.5,
                           1,
                           2,
                           Limits::min(),
                           Limits::denorm_min(),
                           Limits::max(),
                           Limits::infinity(),
                           Limits::quiet_NaN()};
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> unit(-1, 1);
  for (int i = 0; i < NumPoints(); ++i) {
    const double range = i % 2 == 0 ? 4 : Limits::max_exponent;
    points.push_back(static_cast<T>(std::exp2(range * unit(random))));
  }
  for (size_t i = 0, n = points.size(); i < n; ++i) points.push_back(-points[i]);
  for (double exponent : {-2.0, -1.0, -0.5, 0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0}) {
    const std::vector<T> got =
        Evaluate<T>([&](const Expr& x, const Expr&) { return Pow(x, Const(x.type(), exponent)); },
                    points, points);
    for (size_t i = 0; i < points.size(); ++i) {
      const Wide want = std::pow(static_cast<Wide>(points[i]), static_cast<Wide>(exponent));
      EXPECT_LE((UlpError<T, Wide>(got[i], want)), max_ulp)
          << "Pow(" << points[i] << ", " << exponent << ") = " << got[i] << ", not " << want;
      if (want == 0 || std::isinf(want)) {
        EXPECT_EQ(std::signbit(got[i]), std::signbit(want)) << points[i] << ", " << exponent;
      }
    }
  }
}

TEST(PowTest, ConstantExponents) {
  CheckConstantExponents<float, double>(kMaxConstantPowUlp);
  CheckConstantExponents<double, long double>(kMaxConstantPowUlp);
}

TEST(PowTest, Float32) { CheckPow<float, double>(kMaxPowUlp32); }
TEST(PowTest, Float64) { CheckPow<double, long double>(kMaxPowUlp64); }

TEST(SizeTest, HotFunctionsAreShort) {
  const std::pair<Expr (*)(Expr), int> cases[] = {{Exp, 30},     {ExpOfNonPositive, 22},
                                                  {Tanh, 36},    {Sigmoid, 32},
                                                  {Erf, 42},     {Gelu, 36},
                                                  {Log, 38},     {Expm1, 32},
                                                  {Softplus, 48}};
  for (const auto& [build, max_operations] : cases) {
    int operations = 0;
    VisitExpr(build(MakeVar("x", Type::Of(DType::Float(32)))), [&](const Expr& e) {
      const bool is_leaf =
          e.As<VarNode>() != nullptr || e.As<FloatImm>() != nullptr || e.As<IntImm>() != nullptr;
      if (!is_leaf && e.As<Bitcast>() == nullptr) ++operations;  // a bitcast costs nothing
    });
    EXPECT_LE(operations, max_operations);
  }
}

TEST(FoldTest, ConstantsGiveWhatTheInterpreterGives) {
  const float x = 0.7f;
  for (const Function& f : kFunctions) {
    const Expr folded = f.build(FloatConst(Type::Of(DType::Float(32)), x));
    ASSERT_NE(folded.As<FloatImm>(), nullptr) << f.name;
    const std::vector<float> got =
        Evaluate<float>([&](Expr a, Expr) { return f.build(a); }, {x}, {x});
    const float value = static_cast<float>(folded.As<FloatImm>()->value);
    EXPECT_TRUE(value == got[0] || (std::isnan(value) && std::isnan(got[0]))) << f.name;
  }
}

}  // namespace
}  // namespace kiln::loop
