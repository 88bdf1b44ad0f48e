// SPDX-License-Identifier: Apache-2.0
// Reading values at other positions, between positions, and outside the data.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/frontend/onnx/values_of.h"

namespace kiln::onnx_frontend {
namespace {

TEST(OnnxValues, OfPads) {
  const Given x = {"x", {3}, {1, 2, 3}}, image = {"x", {2, 3}, {1, 2, 3, 4, 5, 6}};
  const std::string pad = "op_type: 'Pad' input: 'x' input: 'p' output: 'y'",
                    along = "op_type: 'Pad' input: 'x' input: 'p' input: '' input: 'a' output: 'y'";
  ExpectValues({
      {pad, {x, Ints("p", {-1, 2})}, {2, 3, 0, 0}},
      {pad + Attr("mode", "edge"), {x, Ints("p", {1, -2})}, {1, 1}},
      {pad + Attr("mode", "reflect"), {x, Ints("p", {-1, 1})}, {2, 3, 2}},
      {pad + Attr("mode", "wrap"), {x, Ints("p", {2, 4})}, {2, 3, 1, 2, 3, 1, 2, 3, 1}, 19},
      {pad + Attr("mode", "wrap"), {x, Ints("p", {-1, 3})}, {2, 3, 2, 3, 2}, 19},
      {along, {image, Ints("p", {1, 0}), Ints("a", {-1})}, {0, 1, 2, 3, 0, 4, 5, 6}},
      {along, {image, Ints("p", {0, -1, 1, 0}), Ints("a", {0, 1})}, {2, 3, 5, 6, 0, 0}},
  });
}

TEST(OnnxValues, RefusesPadsThatLeaveLessThanNothing) {
  const absl::StatusOr<std::vector<double>> found =
      ValuesOf({"op_type: 'Pad' input: 'x' input: 'p' output: 'y'",
                {{"x", {3}, {1, 2, 3}}, Ints("p", {-2, -2})},
                {}});
  EXPECT_EQ(found.status().code(), absl::StatusCode::kInvalidArgument) << found.status();
}

// ONNX's formula: at half the extent, a neighbor at distance d has the weight 1 - d / 2.
TEST(OnnxValues, OfAntialiasedResize) {
  const std::string resize =
      "op_type: 'Resize' input: 'x' input: '' input: 's' output: 'y' attribute { name: 'antialias' "
      "type: INT i: 1 } attribute { name: 'mode' type: STRING s: 'linear' }";
  ExpectValues({
      // Positions 0.5 and 2.5. The weights are 1/8, 3/8, 3/8, 1/8 for positions -1 to 2 and 1 to 4.
      {resize, {{"x", {4}, {0, 8, 16, 64}}, {"s", {1}, {0.5}}}, {5, 39}},
      {resize + " attribute { name: 'exclude_outside' type: INT i: 1 }",
       {{"x", {4}, {0, 7, 14, 56}}, {"s", {1}, {0.5}}},
       {5, 31}},
  });
}

TEST(OnnxValues, OfRegionsSampledPerPlace) {
  ExpectValues({
      {"op_type: 'RoiAlign' input: 'x' input: 'r' input: 'i' output: 'y' attribute { name: "
       "'sampling_ratio' type: INT i: 0 } attribute { name: 'coordinate_transformation_mode' type: "
       "STRING s: 'output_half_pixel' }",
       {{"x", {1, 1, 4, 4}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}},
        {"r", {1, 4}, {0, 0, 3, 2.5}},
        Ints("i", {0})},
       {6.5}},
  });
}

TEST(OnnxValues, OfTheMiddle) {
  const std::string node = "op_type: 'CenterCropPad' input: 'x' input: 's' output: 'y'";
  const Given x = {"x", {5}, {1, 2, 3, 4, 5}}, image = {"x", {2, 3}, {1, 2, 3, 4, 5, 6}};
  ExpectValues({
      {node, {x, Ints("s", {2})}, {2, 3}},
      {node, {x, Ints("s", {8})}, {0, 1, 2, 3, 4, 5, 0, 0}},
      {node, {image, Ints("s", {3, 1})}, {2, 5, 0}},
      {node + Attr("axes", std::vector<int>{-1}), {image, Ints("s", {1})}, {2, 5}},
  });
}

// Taps a and b of two blocks: tap a at positions 0 and 1, tap b at positions 1 and 2.
TEST(OnnxValues, OfOverlappingBlocks) {
  const std::string node = "op_type: 'Col2Im' input: 'x' input: 'i' input: 'b' output: 'y'";
  const Given x = {"x", {1, 2, 2}, {1, 2, 3, 4}};
  ExpectValues({
      {node, {x, Ints("i", {3}), Ints("b", {2})}, {1, 5, 4}},
      {node + Attr("pads", std::vector<int>{1, 0}), {x, Ints("i", {2}), Ints("b", {2})}, {5, 4}},
      {node + Attr("strides", std::vector<int>{2}),
       {x, Ints("i", {4}), Ints("b", {2})},
       {1, 3, 2, 4}},
      {node + Attr("dilations", std::vector<int>{2}),
       {{"x", {1, 2, 1}, {1, 2}}, Ints("i", {3}), Ints("b", {2})},
       {1, 0, 2}},
  });
  const absl::StatusOr<std::vector<double>> found =
      ValuesOf({node, {x, Ints("i", {4}), Ints("b", {2})}, {}});
  EXPECT_EQ(found.status().code(), absl::StatusCode::kInvalidArgument) << found.status();
}

// x' = 2 x + 1 and y' = y, as (x', y') of each position.
TEST(OnnxValues, OfAffineGrids) {
  const std::string node = "op_type: 'AffineGrid' input: 't' input: 's' output: 'y'";
  const Given theta = {"t", {1, 2, 3}, {2, 0, 1, 0, 1, 0}};
  ExpectValues({
      {node, {theta, Ints("s", {1, 1, 2, 2})}, {0, -0.5, 2, -0.5, 0, 0.5, 2, 0.5}, 20},
      {node + Attr("align_corners", 1),
       {theta, Ints("s", {1, 1, 1, 3})},
       {-1, -1, 1, -1, 3, -1},
       20},
  });
}

// The second position is read half a row lower. The last is read one and a half columns further
// left, where half of it is outside the image.
TEST(OnnxValues, OfShiftedTaps) {
  const std::string node = "op_type: 'DeformConv' input: 'x' input: 'w' input: 'o' output: 'y'";
  const std::vector<Given> inputs = {{"x", {1, 1, 2, 2}, {1, 2, 3, 4}},
                                     {"w", {1, 1, 1, 1}, {2}},
                                     {"o", {1, 2, 2, 2}, {0, 0.5, 0, 0, 0, 0, 0, -1.5}}};
  std::vector<Given> masked = inputs;
  masked.push_back({"b", {1}, {10}});
  masked.push_back({"m", {1, 1, 2, 2}, {1, 0.5, 0, 1}});
  ExpectValues({
      {node, inputs, {2, 6, 6, 3}, 19},
      {node + " input: 'b' input: 'm'", masked, {12, 13, 10, 13}, 19},
  });
  masked.back() = {"m", {1, 1, 1, 2}, {1, 1}};
  const absl::StatusOr<std::vector<double>> found =
      ValuesOf({node + " input: 'b' input: 'm'", masked, {}, 19});
  EXPECT_EQ(found.status().code(), absl::StatusCode::kInvalidArgument) << found.status();
}

TEST(OnnxValues, OfLargestOfRegions) {
  const std::string node = "op_type: 'MaxRoiPool' input: 'x' input: 'r' output: 'y'";
  const Given x = {"x", {1, 1, 2, 2}, {1, 2, 3, 4}}, whole = {"r", {1, 5}, {0, 0, 0, 1, 1}};
  ExpectValues({
      {node + Attr("pooled_shape", std::vector<int>{2, 1}), {x, whole}, {2, 4}},
      {node + Attr("pooled_shape", std::vector<int>{1, 1}) + Attr("spatial_scale", 0.25),
       {x, whole},
       {1}},
  });
}

}  // namespace
}  // namespace kiln::onnx_frontend
