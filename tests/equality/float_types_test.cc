// SPDX-License-Identifier: Apache-2.0
// Floats of 16 and 64 bits on targets without some of their instructions. Every operator can be
// compiled, and gives the same bits on all engines.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <ostream>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/ops/add_op.h"
#include "compiler/ops/op_def.h"
#include "compiler/target/target.h"
#include "tests/equality/engines.h"

namespace kiln::equality {
namespace {

// Operators that add products. They are tested in addition to the element-wise operators.
const std::set<std::string> kProducts = {"nn.batch_matmul", "nn.conv2d", "nn.conv2d_transpose",
                                         "nn.dense", "nn.layer_norm"};

// Returns the first example with float32 inputs, converted to `dtype`, or a case without nodes.
Case CaseOf(const OpDef& op, DType dtype) {
  for (const OpExample& example : op.examples) {
    const auto is_float = [](const TensorType& t) { return t.dtype == DType::Float(32); };
    if (!std::all_of(example.inputs.begin(), example.inputs.end(), is_float)) continue;
    Case test{.name = absl::StrCat(op.name, " of ", dtype.ToString()), .graph = {}, .inputs = {}};
    std::vector<ValueId> inputs;
    for (size_t i = 0; i < example.inputs.size(); ++i) {
      const TensorType type = {example.inputs[i].shape, dtype};
      inputs.push_back(test.graph.AddInput(absl::StrCat("x", i), type));
      test.inputs.push_back(
          RandomValues(type, static_cast<uint32_t>(i) + 1, example.input_min, example.input_max));
    }
    if (!AddOp(test.graph, op.name, inputs, example.attrs).ok()) continue;
    test.graph.outputs = test.graph.nodes.back().outputs;
    return test;
  }
  return {};
}

class FloatTypesTest : public testing::TestWithParam<const char*> {};

TEST_P(FloatTypesTest, EveryOperatorHasCode) {
  std::vector<Case> cases;
  for (const OpDef* op : AllOps()) {
    if (op->traits.fusion != Fusion::kElementwise && !kProducts.contains(op->name)) continue;
    for (const int bits : {16, 64}) {
      Case test = CaseOf(*op, DType::Float(bits));
      if (!test.graph.nodes.empty()) cases.push_back(std::move(test));
    }
  }
  EXPECT_GE(cases.size(), 110);
  const absl::StatusOr<Target> target = Target::Parse(GetParam());
  ASSERT_TRUE(target.ok()) << target.status();
  const std::vector<Outputs> outputs = RunOnAllEngines(cases, {.target = *target, .passes = false});
  EXPECT_EQ(outputs.size(), cases.size());
}

INSTANTIATE_TEST_SUITE_P(All, FloatTypesTest,
                         testing::Values("x86-64", "x86-64-v2", "cortex-m0plus", "cortex-m4f",
                                         "cortex-m55", "riscv32imac"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// Returns dividends and divisors with quotients of up to `quotient_bits` bits.
template <typename T>
std::vector<Tensor> Operands(int quotient_bits) {
  const T infinity = std::numeric_limits<T>::infinity(),
          least = std::numeric_limits<T>::denorm_min(), most = std::numeric_limits<T>::max();
  std::vector<T> x = {5, -5, 5, -5, 0, 1, infinity, 7, most, least, 3 * least, most},
                 y = {3, 3, -3, infinity, 2, 0, 2, least, most / 2, most, 2 * least, infinity};
  y[7] = static_cast<T>(0.1);
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> unit(0.5, 1);
  for (int i = 0; i < 2000; ++i) {
    const int exponent = static_cast<int>(random() % 60) - 30;
    const T divisor = static_cast<T>(std::ldexp(unit(random), exponent));
    const T quotient =
        static_cast<T>(std::ldexp(unit(random), i % (quotient_bits + 1)) * (i % 2 == 0 ? 1 : -1));
    x.push_back(i % 3 == 0 ? std::trunc(quotient) * divisor : quotient * divisor);
    y.push_back(divisor);
  }
  const auto count = static_cast<int64_t>(x.size());
  const DType dtype = DType::Float(8 * static_cast<int>(sizeof(T)));
  return {Tensor::From<T>({count}, dtype, x), Tensor::From<T>({count}, dtype, y)};
}

// The remainder of a division is exact: it is representable in the same type.
TEST(ModTest, IsExact) {
  std::vector<Case> cases;
  for (const bool wide : {false, true}) {
    Case test{.name = wide ? "mod of float64" : "mod of float32", .graph = {}, .inputs = {}};
    test.inputs = wide ? Operands<double>(51) : Operands<float>(23);
    const ValueId x = test.graph.AddInput("x", test.inputs[0].type()),
                  y = test.graph.AddInput("y", test.inputs[1].type());
    ASSERT_TRUE(AddOp(test.graph, "mod", {x, y}).ok());
    test.graph.outputs = test.graph.nodes.back().outputs;
    cases.push_back(std::move(test));
  }
  for (const char* name : {"host", "x86-64"}) {
    const std::vector<Outputs> outputs =
        RunOnAllEngines(cases, {.target = Target::Parse(name).value()});
    ASSERT_EQ(outputs.size(), cases.size());
    for (size_t k = 0; k < cases.size(); ++k) {
      ASSERT_EQ(outputs[k].size(), 1) << cases[k].name;
      for (int64_t i = 0; i < outputs[k][0].type().num_elements(); ++i) {
        const double x = cases[k].inputs[0].AsDouble(i), y = cases[k].inputs[1].AsDouble(i);
        const double wanted = std::fmod(x, y), found = outputs[k][0].AsDouble(i);
        EXPECT_TRUE(found == wanted || (std::isnan(found) && std::isnan(wanted)))
            << cases[k].name << ": " << x << ", " << y << ": " << found << ", not " << wanted;
      }
    }
  }
}

}  // namespace
}  // namespace kiln::equality
