// SPDX-License-Identifier: Apache-2.0
// Values at the limits of operators' domains, and with scales of blocks.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/frontend/onnx/values_of.h"

namespace kiln::onnx_frontend {
namespace {

TEST(OnnxValues, AtTheEndsOfWhatIsDefined) {
  const auto of = [](const char* op, const char* inputs) {
    return absl::StrCat("op_type: '", op, "' output: 'y' ", inputs);
  };
  const Given ints = {"x", {4}, {1, 2, 3, 9}, onnx::TensorProto::INT32};
  const Given truth = {"x", {3, 2}, {1, 0, 0, 0, 1, 1}, onnx::TensorProto::BOOL};
  ExpectValues({
      {of("LpNormalization", "input: 'x'"), {{"x", {2, 2}, {0, 0, 3, 4}}}, {0, 0, 0.6, 0.8}},
      // Indices out of range select nothing.
      {of("OneHot", "input: 'i' input: 'd' input: 'v'"),
       {Ints("i", {-1, -4, 3}), Ints("d", {3}), {"v", {2}, {5, 7}}},
       {5, 5, 7, 5, 5, 5, 5, 5, 5}},
      {of("Clip", "input: 'x' input: 'a' input: 'b'"),
       {{"x", {3}, {1, 4, 9}}, {"a", {}, {6}}, {"b", {}, {5}}},
       {5, 5, 5}},
      {of("Clip", "input: 'x'") + Attr("min", 6.0) + Attr("max", 5.0),
       {{"x", {3}, {1, 4, 9}}},
       {5, 5, 5},
       10},
      // For bools, false is less than true.
      {of("ReduceMax", "input: 'x' input: 'a'"), {truth, Ints("a", {1})}, {1, 0, 1}, 20},
      {of("ReduceMin", "input: 'x' input: 'a'"), {truth, Ints("a", {0})}, {0, 0}, 20},
      {of("ReduceMin", "input: 'x'") + Attr("keepdims", 0), {truth}, {0}, 20},
      {of("Pow", "input: 'x' input: 'e'"), {ints, {"e", {}, {0.5}}}, {1, 1, 1, 3}},
      {of("Shrink", "input: 'x'") + Attr("bias", 1.5) + Attr("lambd", 2.5),
       {{"x", {4}, {-5, -2, 2, 5}, onnx::TensorProto::INT8}},
       {-3, 0, 0, 3}},
      // Opset 10 takes the next position; later opsets take the nearest.
      {of("Resize", "input: 'x' input: 's'"),
       {{"x", {1, 1, 1, 4}, {1, 2, 3, 4}}, {"s", {4}, {1, 1, 1, 0.6}}},
       {1, 3},
       10},
      // If some dimensions shrink and some grow, each follows its own rule.
      {of("Resize", "input: 'x' input: 's'"),
       {{"x", {2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}}, {"s", {2}, {1.5, 0.6}}},
       {1, 3, 1, 3, 5, 7},
       10},
      {of("Resize", "input: 'x' input: 's'") + Attr("mode", "linear"),
       {{"x", {2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}}, {"s", {2}, {1.5, 0.5}}},
       {1, 3, 1 + 4 * 2 / 3.0, 3 + 4 * 2 / 3.0, 5, 7},
       10},
      // The part of the data that roi selects is stretched to the whole size.
      {of("Resize", "input: 'x' input: 'r' input: 's'") + Attr("mode", "linear") +
           Attr("coordinate_transformation_mode", "tf_crop_and_resize"),
       {{"x", {5}, {0, 1, 2, 3, 4}}, {"r", {2}, {0.25, 0.75}}, {"s", {1}, {1}}},
       {1, 1.5, 2, 2.5, 3}},
      {of("BitCast", "input: 'x'") + Attr("to", onnx::TensorProto::INT32),
       {{"x", {2}, {1, -2}}},
       {0x3f800000, -0x40000000},
       26},
      {of("BitCast", "input: 'x'") + Attr("to", onnx::TensorProto::INT8),
       {truth},
       {1, 0, 0, 0, 1, 1},
       26},
      // The input is the one-sided transform of {1, 2, 3, 4}, then of {1, 2, 3}.
      {of("DFT", "input: 'x'") + Attr("inverse", 1) + Attr("onesided", 1),
       {{"x", {1, 3, 2}, {10, 0, -2, 2, -2, 0}}},
       {1, 2, 3, 4},
       17},
      {of("DFT", "input: 'x' input: 'n'") + Attr("inverse", 1) + Attr("onesided", 1),
       {{"x", {1, 2, 2}, {6, 0, -1.5, 0.8660254037844386}}, Ints("n", {3})},
       {1, 2, 3},
       17},
      {of("DequantizeLinear", "input: 'x' input: 's'"),
       {Bytes("x", {2}, {3, 4}), {"s", {}, {0x3800}, onnx::TensorProto::FLOAT16}},
       {1.5, 2},
       19},
  });
}

// A NaN bound of Clip, as an input or an attribute, makes all elements NaN, as in NumPy.
TEST(OnnxValues, OfClipToNan) {
  const Given x = {"x", {2}, {1, 4}}, nan = {"n", {}, {std::nan("")}};
  const ModelCase cases[] = {
      {"op_type: 'Clip' output: 'y' input: 'x' input: 'n'", {x, nan}, {}},
      {"op_type: 'Clip' output: 'y' input: 'x' input: '' input: 'n'", {x, nan}, {}},
      {"op_type: 'Clip' output: 'y' input: 'x' attribute { name: 'max' type: FLOAT f: nan }",
       {x},
       {},
       6},
  };
  for (const ModelCase& test : cases) {
    const absl::StatusOr<std::vector<double>> values = ValuesOf(test);
    ASSERT_TRUE(values.ok()) << test.node << ": " << values.status();
    ASSERT_EQ(values->size(), 2) << test.node;
    for (const double value : *values) EXPECT_TRUE(std::isnan(value)) << test.node;
  }
}

// The padding has the zero point of x.
TEST(OnnxValues, OfConvInteger) {
  const std::vector<double> x = {3, 5, 2, 8}, w = {3, 1, 4};
  const Given x_zero = Bytes("xz", {}, {2}), w_zero = Bytes("wz", {1}, {1});
  const std::string node =
      "op_type: 'ConvInteger' input: 'x' input: 'w' input: 'xz' input: 'wz' output: 'y' ";
  const std::string line = node + Attr("pads", std::vector<int>{1, 2}),
                    plane = node + Attr("pads", std::vector<int>{0, 1, 0, 2});
  const std::vector<double> expected = {9, 2, 24, 0, 12};
  ExpectValues({
      {line, {Bytes("x", {1, 1, 4}, x), Bytes("w", {1, 1, 3}, w), x_zero, w_zero}, expected},
      {plane, {Bytes("x", {1, 1, 1, 4}, x), Bytes("w", {1, 1, 1, 3}, w), x_zero, w_zero}, expected},
  });
}

// With scales of blocks, the last block of an axis may be smaller.
TEST(OnnxValues, OfScalesOfBlocks) {
  const std::string dequantize = "op_type: 'DequantizeLinear' input: 'x' input: 's' output: 'y' ",
                    quantize = "op_type: 'QuantizeLinear' input: 'x' input: 's' output: 'y' ";
  const Given of_rows = {"s", {2, 2}, {0.5, 1, 2, 4}}, of_row = {"s", {1, 2}, {0.5, 1}};
  const std::string rows = Attr("axis", 0) + Attr("block_size", 2),
                    columns = Attr("axis", -1) + Attr("block_size", 2);
  const std::string zero = "input: 'z'";
  const Given x = Bytes("x", {3, 2}, {1, 2, 3, 4, 5, 6}), row = {"x", {1, 3}, {1, -3, 2.5}};
  ExpectValues({
      {dequantize + rows, {x, of_rows}, {0.5, 2, 1.5, 4, 10, 24}, 21},
      {dequantize + zero + rows,
       {x, of_rows, Bytes("z", {2, 2}, {1, 0, 2, 3})},
       {0, 2, 1, 4, 6, 12},
       21},
      {quantize + zero + columns, {row, of_row, Bytes("z", {1, 2}, {10, 100})}, {12, 4, 102}, 21},
      {quantize + columns, {row, of_row}, {2, 0, 2}, 21},
  });
  const absl::StatusOr<std::vector<double>> found =
      ValuesOf({dequantize + rows, {x, of_row}, {}, 21});
  EXPECT_EQ(found.status().code(), absl::StatusCode::kInvalidArgument) << found.status();
}

// PyTorch writes index_copy this way: the data is transposed to another first dimension and back.
TEST(OnnxValues, OfUpdatesAlongAnotherAxis) {
  const std::string exchanged = Attr("perm", std::vector<int>{1, 0, 2});
  const std::string update =
      "op_type: 'Transpose' input: 'x' output: 'first'" + exchanged +
      "} node { op_type: 'Transpose' input: 'u' output: 'rows'" + exchanged +
      "} node { op_type: 'ScatterND' input: 'first' input: 'at' input: 'rows' output: 'updated' } "
      "node { op_type: 'Transpose' input: 'updated' output: 'y'" +
      exchanged;
  const Given x = {"x", {2, 3, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}};
  ExpectValues({
      {.node = update,
       .inputs = {x,
                  {"u", {2, 1, 2}, {100, 101, 102, 103}},
                  {"at", {1, 1}, {1}, onnx::TensorProto::INT64}},
       .expected = {1, 2, 100, 101, 5, 6, 7, 8, 102, 103, 11, 12},
       .at_run_time = true},
      {.node = update,
       .inputs = {x,
                  {"u", {2, 2, 2}, {20, 21, 22, 23, 24, 25, 26, 27}},
                  {"at", {2, 1}, {2, -3}, onnx::TensorProto::INT64}},
       .expected = {22, 23, 3, 4, 20, 21, 26, 27, 9, 10, 24, 25},
       .at_run_time = true},
  });
}

// Two query heads for each head of keys and values.
TEST(OnnxValues, OfGroupedHeads) {
  const std::string repeat =
      "op_type: 'Reshape' input: 'k' input: 'one' output: 'k1' } node { op_type: 'Expand' input: "
      "'k1' input: 'two' output: 'k2' } node { op_type: 'Reshape' input: 'k2' input: 'four' "
      "output: 'k3' } node { ";
  const std::vector<Given> shapes = {Ints("one", {1, 2, 1, 3, 2}), Ints("two", {1, 2, 2, 3, 2}),
                                     Ints("four", {1, 4, 3, 2})};
  const Given keys = {"k", {1, 2, 3, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}};
  ExpectValues({
      {.node = repeat + "op_type: 'Transpose' input: 'k3' output: 'kt'" +
               Attr("perm", std::vector<int>{0, 1, 3, 2}) +
               "} node { op_type: 'MatMul' input: 'q' input: 'kt' output: 'y'",
       .inputs = {keys, {"q", {1, 4, 1, 2}, {1, 0, 0, 1, 1, 1, 2, -1}}},
       .expected = {1, 3, 5, 2, 4, 6, 15, 19, 23, 6, 8, 10},
       .at_run_time = true,
       .initializers = shapes},
      {.node = repeat + "op_type: 'MatMul' input: 'w' input: 'k3' output: 'y'",
       .inputs = {keys, {"w", {1, 4, 1, 3}, {1, 0, 0, 0, 1, 1, 1, 1, 1, 0, 0, 2}}},
       .expected = {1, 2, 8, 10, 27, 30, 22, 24},
       .at_run_time = true,
       .initializers = shapes},
  });
}

}  // namespace
}  // namespace kiln::onnx_frontend
