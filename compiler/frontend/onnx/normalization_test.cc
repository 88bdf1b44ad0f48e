// SPDX-License-Identifier: Apache-2.0
// Compares normalizations, PRelu and Gemm with plain loops, for each rank, axis and shape of their
// scales, biases and slopes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "compiler/frontend/onnx/values_of.h"

namespace kiln::onnx_frontend {
namespace {

using testing::HasSubstr;

constexpr double kEpsilon = 0.01;

int64_t Count(const Shape& shape) {
  int64_t count = 1;
  for (int64_t extent : shape) count *= extent;
  return count;
}

// Returns numbers without a pattern along any dimension.
Given Numbers(const char* name, const Shape& shape, double phase) {
  Given given = {name, shape, {}};
  for (int64_t i = 0; i < Count(shape); ++i) {
    given.values.push_back(2 * std::sin(phase + 1.7 * static_cast<double>(i * i % 31)));
  }
  return given;
}

// Returns the element of `operand` that corresponds to element i of data of this shape.
double At(const Given& operand, const Shape& shape, int64_t i) {
  int64_t place = 0, stride = 1;
  const size_t skipped = shape.size() - operand.shape.size();
  for (size_t d = shape.size(); d-- > 0; i /= shape[d]) {
    if (d < skipped || operand.shape[d - skipped] == 1) continue;
    place += i % shape[d] * stride;
    stride *= operand.shape[d - skipped];
  }
  return operand.values[static_cast<size_t>(place)];
}

// Returns all shapes that broadcast to `shape`.
std::vector<Shape> BroadcastShapes(const Shape& shape) {
  std::vector<Shape> all;
  for (size_t rank = 0; rank <= shape.size(); ++rank) {
    for (unsigned ones = 0; ones < 1u << rank; ++ones) {
      Shape own(shape.end() - static_cast<std::ptrdiff_t>(rank), shape.end());
      for (size_t d = 0; d < rank; ++d) {
        if ((ones >> d & 1) != 0) own[d] = 1;
      }
      all.push_back(own);
    }
  }
  return all;
}

std::string Text(const Shape& shape) { return ShapeToString(shape); }

std::string Node(const std::string& op, const std::vector<Given>& inputs,
                 const std::string& attributes = "") {
  std::string text = absl::StrCat("op_type: '", op, "' output: 'y' ", attributes);
  for (const Given& input : inputs) absl::StrAppend(&text, " input: '", input.name, "'");
  return text;
}

void ExpectValuesOf(const ModelCase& test, const std::string& what) {
  const absl::StatusOr<std::vector<double>> found = ValuesOf(test);
  ASSERT_TRUE(found.ok()) << what << ": " << found.status();
  ASSERT_EQ(found->size(), test.expected.size()) << what;
  for (size_t i = 0; i < found->size(); ++i) {
    ASSERT_NEAR((*found)[i], test.expected[i], 1e-4) << what << ", element " << i;
  }
}

// Checks the values of a model with its inputs as initializers and as run-time inputs.
void ExpectBoth(ModelCase test, const std::string& what) {
  for (bool at_run_time : {false, true}) {
    test.at_run_time = at_run_time;
    ExpectValuesOf(test, what);
  }
}

// Subtracts the mean (if `subtracts_mean`) and divides by the root of the mean square plus epsilon,
// over blocks of `block` elements.
std::vector<double> Normalized(const Given& x, int64_t block, bool subtracts_mean) {
  std::vector<double> y;
  for (size_t begin = 0; begin < x.values.size(); begin += static_cast<size_t>(block)) {
    double mean = 0, square = 0;
    for (size_t i = begin; subtracts_mean && i < begin + static_cast<size_t>(block); ++i) {
      mean += x.values[i] / static_cast<double>(block);
    }
    for (size_t i = begin; i < begin + static_cast<size_t>(block); ++i) {
      square += std::pow(x.values[i] - mean, 2) / static_cast<double>(block);
    }
    for (size_t i = begin; i < begin + static_cast<size_t>(block); ++i) {
      y.push_back((x.values[i] - mean) / std::sqrt(square + kEpsilon));
    }
  }
  return y;
}

std::vector<double> ScaledAndShifted(std::vector<double> y, const Given& scale, const Given* shift,
                                     const Shape& shape) {
  for (size_t i = 0; i < y.size(); ++i) {
    const auto place = static_cast<int64_t>(i);
    y[i] = y[i] * At(scale, shape, place) + (shift == nullptr ? 0 : At(*shift, shape, place));
  }
  return y;
}

// Equal extents, so that a scale along the wrong dimension would go unnoticed by shape checks.
const Shape kShapes[] = {{5}, {4, 4}, {2, 4, 4}, {2, 1, 3, 2}};

TEST(Normalization, LayerNormalizationBroadcastsScaleAndBias) {
  for (const Shape& shape : kShapes) {
    const std::vector<Shape> operands = BroadcastShapes(shape);
    const auto rank = static_cast<int>(shape.size());
    const Given x = Numbers("x", shape, 1);
    for (int axis = 0; axis < rank; ++axis) {
      const int64_t block = Count({shape.begin() + axis, shape.end()});
      const std::vector<double> y = Normalized(x, block, true);
      // Both negative and non-negative axes are tested.
      const std::string attributes =
          Attr("axis", axis % 2 == 0 ? axis : axis - rank) + Attr("epsilon", kEpsilon);
      for (size_t i = 0; i < operands.size(); ++i) {
        const Given scale = Numbers("s", operands[i], 2);
        const std::string what =
            absl::StrCat(Text(shape), " from ", axis, ", scale ", Text(scale.shape));
        ExpectValuesOf({Node("LayerNormalization", {x, scale}, attributes),
                        {x, scale},
                        ScaledAndShifted(y, scale, nullptr, shape)},
                       what);
        // The bias has the same shape as the scale, or another one.
        const Given same = Numbers("b", operands[i], 3),
                    other = Numbers("b", operands[(5 * i + 3) % operands.size()], 3);
        for (const Given* shift : {&same, &other}) {
          ExpectValuesOf({.node = Node("LayerNormalization", {x, scale, *shift}, attributes),
                          .inputs = {x, scale, *shift},
                          .expected = ScaledAndShifted(y, scale, shift, shape),
                          .at_run_time = shift == &other || i % 2 == 0},
                         absl::StrCat(what, ", bias ", Text(shift->shape)));
        }
      }
    }
  }
}

TEST(Normalization, RmsNormalizationBroadcastsTheScale) {
  for (const Shape& shape : kShapes) {
    const Given x = Numbers("x", shape, 1);
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      const auto first = shape.begin() + static_cast<std::ptrdiff_t>(axis);
      const std::vector<double> y = Normalized(x, Count({first, shape.end()}), false);
      const std::string attributes =
          Attr("axis", static_cast<int>(axis)) + Attr("epsilon", kEpsilon);
      for (const Shape& of_scale : BroadcastShapes(shape)) {
        const Given scale = Numbers("s", of_scale, 2);
        for (const char* op : {"RMSNormalization", "SimplifiedLayerNormalization"}) {
          ExpectValuesOf(
              {.node = Node(op, {x, scale}, attributes),
               .inputs = {x, scale},
               .expected = ScaledAndShifted(y, scale, nullptr, shape),
               .opset = 23,
               .at_run_time = op[0] == 'R'},
              absl::StrCat(op, " of ", Text(shape), " from ", axis, ", scale ", Text(of_scale)));
        }
      }
    }
  }
}

// 300 * 300 overflows float16.
TEST(Normalization, RmsNormalizationOfHalvesDoesNotOverflow) {
  const auto half = onnx::TensorProto::FLOAT16;
  ExpectBoth({"op_type: 'RMSNormalization' input: 'x' input: 's' output: 'y'",
              {{"x", {1, 2}, {0x5cb0, 0xdcb0}, half}, {"s", {2}, {0x3c00, 0x4000}, half}},
              {1, -2},
              23},
             "300 and -300");
}

// The mean of float16 data is float32, even if the sum overflows float16.
TEST(Normalization, StatisticsAreFloat32) {
  const auto half = onnx::TensorProto::FLOAT16;
  const absl::StatusOr<Tensor> mean =
      TensorOf({"op_type: 'LayerNormalization' input: 'x' input: 's' output: 'z' output: 'y'",
                {{"x", {1, 2}, {0x7800, 0x7a00}, half}, {"s", {2}, {0x3c00, 0x3c00}, half}}});
  ASSERT_TRUE(mean.ok()) << mean.status();
  EXPECT_EQ(mean->type(), TensorType({{1, 1}, DType::Float(32)}));
  EXPECT_EQ(mean->AsDouble(0), (32768 + 49152) / 2);
}

TEST(Normalization, PReluBroadcastsTheSlope) {
  for (const Shape& shape : kShapes) {
    const Given x = Numbers("x", shape, 1);
    for (const Shape& of_slope : BroadcastShapes(shape)) {
      const Given slope = Numbers("s", of_slope, 2);
      std::vector<double> expected = x.values;
      for (size_t i = 0; i < expected.size(); ++i) {
        if (expected[i] < 0) expected[i] *= At(slope, shape, static_cast<int64_t>(i));
      }
      ExpectBoth({Node("PRelu", {x, slope}), {x, slope}, expected},
                 absl::StrCat(Text(shape), ", ", Text(of_slope)));
    }
  }
}

TEST(Normalization, GemmBroadcastsC) {
  const Given a = Numbers("a", {3, 2}, 1), b = Numbers("b", {2, 4}, 2);
  for (const Shape& of_c : BroadcastShapes({3, 4})) {
    const Given c = Numbers("c", of_c, 3);
    std::vector<double> expected;
    for (size_t i = 0; i < 12; ++i) {
      const size_t row = i / 4, column = i % 4;
      expected.push_back(a.values[2 * row] * b.values[column] +
                         a.values[2 * row + 1] * b.values[4 + column] +
                         At(c, {3, 4}, static_cast<int64_t>(i)));
    }
    ExpectBoth({Node("Gemm", {a, b, c}), {a, b, c}, expected}, Text(of_c));
  }
}

// The channels are dimension 1. Data of rank 1 has one channel.
TEST(Normalization, OfChannels) {
  for (const Shape& shape : {Shape{5}, Shape{3, 4}, Shape{2, 4, 3}, Shape{1, 4, 2, 3}}) {
    const Given x = Numbers("x", shape, 1);
    const int64_t channels = shape.size() == 1 ? 1 : shape[1];
    const int64_t inner = shape.size() == 1 ? 1 : Count({shape.begin() + 2, shape.end()});
    const Given scale = Numbers("s", {channels}, 2), shift = Numbers("b", {channels}, 3),
                mean = Numbers("m", {channels}, 4);
    Given variance = Numbers("v", {channels}, 5);
    for (double& v : variance.values) v = v * v + 0.5;
    const auto channel_of = [&](size_t i) {
      return i / static_cast<size_t>(inner) % static_cast<size_t>(channels);
    };
    std::vector<double> batch, instance = Normalized(x, inner, true),
                               group = Normalized(x, 2 * inner, true);
    for (size_t i = 0; i < x.values.size(); ++i) {
      const size_t c = channel_of(i);
      const double deviation = std::sqrt(variance.values[c] + kEpsilon);
      batch.push_back((x.values[i] - mean.values[c]) / deviation * scale.values[c] +
                      shift.values[c]);
      instance[i] = instance[i] * scale.values[c] + shift.values[c];
    }
    const std::string epsilon = Attr("epsilon", kEpsilon);
    ExpectBoth({Node("BatchNormalization", {x, scale, shift, mean, variance}, epsilon),
                {x, scale, shift, mean, variance},
                batch},
               Text(shape));
    if (shape.size() == 1) continue;
    ExpectBoth(
        {Node("InstanceNormalization", {x, scale, shift}, epsilon), {x, scale, shift}, instance},
        Text(shape));
    // Two groups of two channels. The parameters are first per group, then per channel.
    const std::string groups = epsilon + Attr("num_groups", 2);
    const Given of_group = Numbers("s", {2}, 6), shift_of_group = Numbers("b", {2}, 7);
    std::vector<double> by_group = group, by_channel = group;
    for (size_t i = 0; i < group.size(); ++i) {
      const size_t c = channel_of(i);
      by_group[i] = group[i] * of_group.values[c / 2] + shift_of_group.values[c / 2];
      by_channel[i] = group[i] * scale.values[c] + shift.values[c];
    }
    ExpectBoth({Node("GroupNormalization", {x, of_group, shift_of_group}, groups),
                {x, of_group, shift_of_group},
                by_group,
                18},
               Text(shape));
    ExpectBoth(
        {Node("GroupNormalization", {x, scale, shift}, groups), {x, scale, shift}, by_channel, 21},
        Text(shape));
  }
}

TEST(Normalization, RefusesOperandsThatDoNotBroadcast) {
  const Given x = Numbers("x", {2, 4, 3}, 1);
  const auto operand = [](const Shape& shape) { return Numbers("s", shape, 2); };
  const Given vector = Numbers("v", {4}, 3), row = Numbers("r", {3}, 3);
  const std::string microsoft = "domain: 'com.microsoft' ", groups = Attr("num_groups", 2);
  const struct {
    std::string node;
    std::vector<Given> inputs;
    const char* text;
    int opset = 23;
  } rows[] = {
      {Node("LayerNormalization", {x, operand({4})}),
       {x, operand({4})},
       "Scale: found Tensor[(4,), float32], wanted a shape that broadcasts to (2, 4, 3)"},
      // The number of elements of the normalized dimensions is not enough; the shape must
      // broadcast.
      {Node("LayerNormalization", {x, operand({12})}, Attr("axis", 1)),
       {x, operand({12})},
       "Scale: found Tensor[(12,), float32]"},
      {Node("LayerNormalization", {x, operand({1, 1, 1, 3})}),
       {x, operand({1, 1, 1, 3})},
       "Scale: found Tensor[(1, 1, 1, 3), float32]"},
      {Node("LayerNormalization", {x, row, operand({2})}),
       {x, row, operand({2})},
       "B: found Tensor[(2,), float32], wanted a shape that broadcasts to (2, 4, 3)"},
      {Node("RMSNormalization", {Numbers("x", {1, 3}, 1), operand({2, 3})}),
       {Numbers("x", {1, 3}, 1), operand({2, 3})},
       "scale: found Tensor[(2, 3), float32], wanted a shape that broadcasts to (1, 3)"},
      {Node("BatchNormalization", {x, operand({3}), vector, vector, vector}),
       {x, operand({3}), vector},
       "scale: found Tensor[(3,), float32], wanted the shape (4,)"},
      {Node("BatchNormalization", {x, vector, vector, vector, operand({1})}),
       {x, operand({1}), vector},
       "input_var: found Tensor[(1,), float32], wanted the shape (4,)"},
      {Node("InstanceNormalization", {x, vector, operand({4, 1})}),
       {x, vector, operand({4, 1})},
       "B: found Tensor[(4, 1), float32], wanted the shape (4,)"},
      {Node("InstanceNormalization", {row, row, row}),
       {row},
       "data: found Tensor[(3,), float32], wanted rank 2 or more"},
      {Node("GroupNormalization", {x, vector, vector}, groups),
       {x, vector},
       "scale: found Tensor[(4,), float32], wanted the shape (2,)",
       18},
      {Node("GroupNormalization", {x, vector, operand({2})}, groups),
       {x, vector, operand({2})},
       "bias: found Tensor[(2,), float32], wanted the shape (4,)"},
      {Node("PRelu", {Numbers("x", {1, 3}, 1), operand({2, 3})}),
       {Numbers("x", {1, 3}, 1), operand({2, 3})},
       "slope: found Tensor[(2, 3), float32], wanted a shape that broadcasts to (1, 3)"},
      {Node("Gemm", {Numbers("x", {1, 3}, 1), operand({3, 2}), Numbers("c", {5, 2}, 1)}),
       {Numbers("x", {1, 3}, 1), operand({3, 2}), Numbers("c", {5, 2}, 1)},
       "C: found Tensor[(5, 2), float32], wanted a shape that broadcasts to (1, 2)"},
      {Node("Conv", {x, operand({2, 4, 1}), Numbers("b", {1}, 1)}),
       {x, operand({2, 4, 1}), Numbers("b", {1}, 1)},
       "B: found Tensor[(1,), float32], wanted the shape (2,)"},
      {Node("BiasGelu", {x, operand({4, 3})}, microsoft),
       {x, operand({4, 3})},
       "bias: found Tensor[(4, 3), float32], wanted the shape (3,)"},
      {Node("SkipLayerNormalization", {x, x, operand({1, 3})}, microsoft),
       {x, operand({1, 3})},
       "gamma: found Tensor[(1, 3), float32], wanted the shape (3,)"},
      {Node("SkipLayerNormalization", {x, x, row, operand({1})}, microsoft),
       {x, row, operand({1})},
       "beta: found Tensor[(1,), float32], wanted the shape (3,)"},
      {Node("SkipSimplifiedLayerNormalization", {operand({1, 4, 3}), x, row}, microsoft),
       {x, row, operand({1, 4, 3})},
       "skip: found Tensor[(2, 4, 3), float32], wanted a shape that broadcasts to (1, 4, 3)"},
  };
  for (const auto& test : rows) {
    const absl::Status status = ValuesOf({test.node, test.inputs, {}, test.opset}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << test.node;
    EXPECT_THAT(status.message(), HasSubstr(test.text)) << test.node;
  }
}

}  // namespace
}  // namespace kiln::onnx_frontend
