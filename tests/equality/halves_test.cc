// SPDX-License-Identifier: Apache-2.0
// ONNX operators that become several operators: with float16, they are rounded only once. Every
// float16 number goes through each activation on every engine, and is compared with the exact
// value.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/base/tensor.h"
#include "compiler/import/import.h"
#include "google/protobuf/text_format.h"
#include "onnx/onnx_pb.h"
#include "tests/equality/engines.h"

namespace kiln::equality {
namespace {

using Wide = long double;

// Returns a model of one node, given as text, with inputs x, w and b of these shapes.
absl::StatusOr<Graph> ModelOf(const std::string& node, const std::vector<Shape>& shapes,
                              int opset) {
  onnx::ModelProto model;
  const std::string text = absl::StrCat("ir_version: 10 opset_import { version: ", opset,
                                        " } opset_import { domain: 'com.microsoft' version: 1 } "
                                        "graph { name: 'g' node { output: 'y' ",
                                        node, " } output { name: 'y' } }");
  if (!google::protobuf::TextFormat::ParseFromString(text, &model)) {
    return absl::InvalidArgumentError(text);
  }
  const char* const names[] = {"x", "w", "b"};
  for (size_t i = 0; i < shapes.size(); ++i) {
    onnx::ValueInfoProto& input = *model.mutable_graph()->add_input();
    input.set_name(names[i]);
    onnx::TypeProto::Tensor& type = *input.mutable_type()->mutable_tensor_type();
    type.set_elem_type(onnx::TensorProto::FLOAT16);
    type.mutable_shape();
    for (int64_t extent : shapes[i]) type.mutable_shape()->add_dim()->set_dim_value(extent);
  }
  return ImportModel(model.SerializeAsString(), "m.onnx");
}

// Returns |found - wanted| in units in the last place of float16 at `wanted`. Infinity counts as
// the first number that is too large for float16.
double UlpError(double found, Wide wanted) {
  if (std::isnan(found) || std::isnan(wanted)) {
    return std::isnan(found) && std::isnan(wanted) ? 0 : std::numeric_limits<double>::infinity();
  }
  const Wide overflow = 65536;
  const Wide value = std::clamp<Wide>(found, -overflow, overflow);
  wanted = std::clamp(wanted, -overflow, overflow);
  const int exponent = wanted == 0 ? -14 : std::max(std::ilogb(wanted), -14);
  return static_cast<double>(std::abs(value - wanted) / std::ldexp(Wide{1}, exponent - 10));
}

struct Activation {
  std::string node;
  std::function<Wide(Wide)> exact;
};

// Returns the text of an attribute, which is a float32 number.
std::string Float(const char* name, float value) {
  return absl::StrCat(" attribute { name: '", name, "' type: FLOAT f: ", value, " }");
}

Wide Sigmoid(Wide x) { return 1 / (1 + std::exp(-x)); }
Wide Gelu(Wide x) { return x * std::erfc(-x / std::sqrt(Wide{2})) / 2; }
Wide GeluByTanh(Wide x) {
  return x * Sigmoid(2 * std::sqrt(2 / std::acos(Wide{-1})) * (x + Wide{0.044715} * x * x * x));
}
Wide Softplus(Wide x) { return std::max(x, Wide{0}) + std::log1p(std::exp(-std::abs(x))); }
Wide HardSigmoid(Wide x, Wide alpha, Wide beta) {
  return std::clamp(alpha * x + beta, Wide{0}, Wide{1});
}

std::vector<Activation> Activations() {
  const Wide selu_alpha = 1.67326319217681884765625, selu_gamma = 1.05070102214813232421875;
  const std::string microsoft = " domain: 'com.microsoft' input: 'x'";
  return {
      {"op_type: 'Celu' input: 'x'" + Float("alpha", 1.5F),
       [](Wide x) { return x > 0 ? x : Wide{1.5} * std::expm1(x / Wide{1.5}); }},
      {"op_type: 'Elu' input: 'x'" + Float("alpha", 1.25F),
       [](Wide x) { return x > 0 ? x : Wide{1.25} * std::expm1(x); }},
      {"op_type: 'Gelu' input: 'x'", Gelu},
      {"op_type: 'Gelu' input: 'x' attribute { name: 'approximate' type: STRING s: 'tanh' }",
       GeluByTanh},
      {"op_type: 'HardSigmoid' input: 'x'", [](Wide x) { return HardSigmoid(x, 0.2F, 0.5); }},
      {"op_type: 'HardSwish' input: 'x'",
       [](Wide x) { return x * HardSigmoid(x, Wide{1} / 6, 0.5); }},
      {"op_type: 'Mish' input: 'x'", [](Wide x) { return x * std::tanh(Softplus(x)); }},
      {"op_type: 'Selu' input: 'x'",
       [=](Wide x) { return selu_gamma * (x > 0 ? x : selu_alpha * std::expm1(x)); }},
      {"op_type: 'Shrink' input: 'x'" + Float("lambd", 0.5F) + Float("bias", 0.1F),
       [](Wide x) { return x < -0.5  ? x + 0.1F
                           : x > 0.5 ? x - 0.1F
                                     : Wide{0}; }},
      {"op_type: 'Softplus' input: 'x'", Softplus},
      {"op_type: 'Softsign' input: 'x'", [](Wide x) { return x / (1 + std::abs(x)); }},
      {"op_type: 'Swish' input: 'x'" + Float("alpha", 1.3F),
       [](Wide x) { return x * Sigmoid(1.3F * x); }},
      // Rounded to float16, 0.9999 would be 1.
      {"op_type: 'ThresholdedRelu' input: 'x'" + Float("alpha", 0.9999F),
       [](Wide x) { return x > 0.9999F ? x : Wide{0}; }},
      {"op_type: 'FastGelu'" + microsoft, GeluByTanh},
      {"op_type: 'Gelu'" + microsoft, Gelu},
      {"op_type: 'QuickGelu'" + microsoft, [](Wide x) { return x * Sigmoid(1.702F * x); }},
  };
}

TEST(HalvesTest, EveryNumberThroughEveryActivation) {
  std::vector<uint16_t> bits;
  for (int i = 0; i < 0x10000; ++i) {
    if (std::isfinite(FloatFromHalf(static_cast<uint16_t>(i)))) {
      bits.push_back(static_cast<uint16_t>(i));
    }
  }
  const auto count = static_cast<int64_t>(bits.size());
  const Tensor x({{count}, kF16}, std::string(reinterpret_cast<const char*>(bits.data()),
                                              sizeof(uint16_t) * bits.size()));
  const std::vector<Activation> activations = Activations();
  std::vector<Case> cases;
  for (const Activation& activation : activations) {
    const absl::StatusOr<Graph> graph = ModelOf(activation.node, {{count}}, 24);
    ASSERT_TRUE(graph.ok()) << graph.status();
    cases.push_back({activation.node, *graph, {x}});
  }
  const std::vector<Outputs> outputs = RunOnAllEngines(cases, {.target = Target::Host()});
  ASSERT_EQ(outputs.size(), cases.size());
  for (size_t k = 0; k < cases.size(); ++k) {
    ASSERT_EQ(outputs[k].size(), 1) << cases[k].name;
    ASSERT_EQ(outputs[k][0].type(), x.type()) << cases[k].name;
    double worst = 0;
    int64_t where = 0;
    for (int64_t i = 0; i < count; ++i) {
      const double error = UlpError(outputs[k][0].AsDouble(i), activations[k].exact(x.AsDouble(i)));
      if (error > worst) {
        worst = error;
        where = i;
      }
    }
    EXPECT_LE(worst, 1) << cases[k].name << " of " << x.AsDouble(where) << " is "
                        << outputs[k][0].AsDouble(where);
  }
}

// An operator and numbers for which intermediate sums in float16 would be far from the result.
struct Composite {
  std::string node;
  std::vector<Shape> shapes;
  std::function<Wide(const std::vector<Tensor>& in, int64_t i)> exact;  // output i
};

Wide SumOfSquares(const Tensor& x, int64_t row, int64_t width) {
  Wide sum = 0;
  for (int64_t k = 0; k < width; ++k) {
    sum += std::pow(static_cast<Wide>(x.AsDouble(row * width + k)), 2);
  }
  return sum;
}

TEST(HalvesTest, SumsAreRoundedOnce) {
  constexpr int64_t kRows = 3, kWidth = 70;
  const Shape matrix = {kRows, kWidth};
  const std::string ints = " attribute { name: 'axes' type: INTS ints: [1] }";
  const Composite composites[] = {
      {"op_type: 'ReduceL2' input: 'x'" + ints,
       {matrix},
       [](const auto& in, int64_t i) { return std::sqrt(SumOfSquares(in[0], i, kWidth)); }},
      {"op_type: 'ReduceLogSumExp' input: 'x'" + ints,
       {matrix},
       [](const auto& in, int64_t i) {
         Wide sum = 0;
         for (int64_t k = 0; k < kWidth; ++k) sum += std::exp(Wide{in[0].AsDouble(i * kWidth + k)});
         return std::log(sum);
       }},
      {"op_type: 'LpNormalization' input: 'x'",
       {matrix},
       [](const auto& in, int64_t i) {
         return in[0].AsDouble(i) / std::sqrt(SumOfSquares(in[0], i / kWidth, kWidth));
       }},
      {"op_type: 'SimplifiedLayerNormalization' input: 'x' input: 'w'",
       {matrix, {kWidth}},
       [](const auto& in, int64_t i) {
         const Wide mean = SumOfSquares(in[0], i / kWidth, kWidth) / kWidth;
         return in[0].AsDouble(i) * in[1].AsDouble(i % kWidth) / std::sqrt(mean + Wide{1e-5F});
       }},
      {"op_type: 'Sum' input: 'x' input: 'w' input: 'b'",
       {matrix, matrix, matrix},
       [](const auto& in, int64_t i) {
         return Wide{in[0].AsDouble(i)} + in[1].AsDouble(i) + in[2].AsDouble(i);
       }},
      {"op_type: 'Gemm' input: 'x' input: 'w' input: 'b' "
       "attribute { name: 'transB' type: INT i: 1 } " +
           Float("alpha", 0.3F),
       {matrix, {2, kWidth}, {2}},
       [](const auto& in, int64_t i) {
         Wide sum = 0;
         for (int64_t k = 0; k < kWidth; ++k) {
           sum += in[0].AsDouble(i / 2 * kWidth + k) * in[1].AsDouble(i % 2 * kWidth + k);
         }
         return 0.3F * sum + in[2].AsDouble(i % 2);
       }},
      {"op_type: 'Conv' input: 'x' input: 'w' input: 'b'",
       {{1, 2, kWidth}, {1, 2, 3}, {1}},
       [](const auto& in, int64_t i) {
         Wide sum = in[2].AsDouble(0);
         for (int64_t k = 0; k < 6; ++k) {
           sum += in[0].AsDouble(k / 3 * kWidth + i + k % 3) * in[1].AsDouble(k);
         }
         return sum;
       }},
  };
  std::vector<Case> cases;
  for (const Composite& composite : composites) {
    const absl::StatusOr<Graph> graph = ModelOf(composite.node, composite.shapes, 13);
    ASSERT_TRUE(graph.ok()) << graph.status();
    Case test = {composite.node, *graph, {}};
    for (const Shape& shape : composite.shapes) {
      const auto seed = static_cast<uint32_t>(1 + test.inputs.size());
      test.inputs.push_back(RandomValues({shape, kF16}, seed, -3, 3));
    }
    cases.push_back(std::move(test));
  }
  const std::vector<Outputs> outputs = RunOnAllEngines(cases, {.target = Target::Host()});
  ASSERT_EQ(outputs.size(), cases.size());
  for (size_t k = 0; k < cases.size(); ++k) {
    ASSERT_EQ(outputs[k].size(), 1) << cases[k].name;
    for (int64_t i = 0; i < outputs[k][0].type().num_elements(); ++i) {
      EXPECT_LE(UlpError(outputs[k][0].AsDouble(i), composites[k].exact(cases[k].inputs, i)), 1)
          << cases[k].name << ", element " << i;
    }
  }
}

}  // namespace
}  // namespace kiln::equality
