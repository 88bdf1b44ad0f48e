// SPDX-License-Identifier: Apache-2.0
// Operands that must be known when a model is compiled and that the model computes from constants.
// In a quantized model, floats are integers with a scale, converted by DequantizeLinear.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/frontend/onnx/model_text.h"

namespace kiln::onnx_frontend {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Adds a vector, or a scalar if `is_scalar`, of `numbers` / 2, computed by DequantizeLinear.
std::string Halves(const std::string& name, const std::vector<int>& numbers,
                   bool is_scalar = false) {
  return absl::StrCat("initializer { name: '", name, "_q' data_type: 3 ",
                      is_scalar ? "" : absl::StrCat("dims: ", numbers.size(), " "), "int32_data: [",
                      absl::StrJoin(numbers, ", "), "] }\n", Floats(name + "_scale", "", {0.5}),
                      "node { op_type: 'DequantizeLinear' input: '", name, "_q' input: '", name,
                      "_scale' output: '", name, "' }\n");
}

// Like Halves, but cast to another type.
std::string Cast(const std::string& name, const std::vector<int>& halves, int type,
                 bool is_scalar = false) {
  return absl::StrCat(Halves(name + "_f", halves, is_scalar), "node { op_type: 'Cast' input: '",
                      name, "_f' output: '", name, "' attribute { name: 'to' type: INT i: ", type,
                      " } }\n");
}
std::string Integers(const std::string& name, const std::vector<int>& halves,
                     bool is_scalar = false) {
  return Cast(name, halves, 7, is_scalar);
}

TEST(KnownValues, OfDequantizedConstants) {
  const std::string x = Input("x", "2,3"), image = Input("x", "1,1,2,2");
  const auto body = [](const char* name, const char* op) {
    return absl::StrCat("attribute { name: '", name, "' type: GRAPH g { node { op_type: '", op,
                        "' input: 'x' output: 'r' } output { name: 'r' } } } ");
  };
  const struct {
    const char* what;
    std::string graph;
    int opset;
    const char* relay;
  } rows[] = {
      {"the value of Pad",
       x + Ints("p", {0, 1, 0, 0}) + Halves("v", {3}, true) + Node("Pad", "x,p,v"), 13,
       "nn.pad(%x, 1.5f, pad_width=[[0, 0], [1, 0]])"},
      {"pads of Pad", x + Integers("p", {0, 2, 0, 0}) + Node("Pad", "x,p"), 13,
       "pad_width=[[0, 0], [1, 0]]"},
      {"scales of Resize", image + Halves("s", {2, 2, 4, 4}) + Node("Resize", "x,,s"), 13,
       "size=[4, 4]"},
      {"scales of Upsample", image + Halves("s", {2, 2, 4, 4}) + Node("Upsample", "x,s"), 9,
       "size=[4, 4]"},
      {"sizes of Resize", image + Integers("s", {2, 2, 6, 8}) + Node("Resize", "x,,,s"), 13,
       "size=[3, 4]"},
      {"roi of Resize",
       image + Halves("r", {0, 0, 0, 0, 2, 2, 1, 1}) + Ints("s", {1, 1, 2, 2}) +
           Node("Resize", "x,r,,s", Attr("coordinate_transformation_mode", "tf_crop_and_resize")),
       13, "roi=[0f, 0f, 0.5f, 0.5f]"},
      {"bounds of Clip",
       x + Halves("a", {-2}, true) + Halves("b", {3}, true) + Node("Clip", "x,a,b"), 13,
       "clip(%x, a_min=-1f, a_max=1.5f)"},
      {"the exponent of Pow", x + Halves("e", {4}, true) + Node("Pow", "x,e"), 13,
       "multiply(%x, %x)"},
      {"the shape of Reshape", x + Integers("s", {6, 4}) + Node("Reshape", "x,s"), 13,
       "newshape=[3, 2]"},
      {"the shape of Expand", Input("x", "1,3") + Integers("s", {8, 2}) + Node("Expand", "x,s"), 13,
       "shape=[4, 3]"},
      {"bounds of Slice",
       x + Integers("a", {2}) + Integers("b", {6}) + Integers("d", {2}) + Node("Slice", "x,a,b,d"),
       13, "begin=[1], end=[3]"},
      {"repeats of Tile", x + Integers("r", {2, 4}) + Node("Tile", "x,r"), 13, "reps=[1, 2]"},
      {"K of TopK", x + Integers("k", {4}) + Node("TopK", "x,k", "output: 'places' "), 13, "k=2"},
      {"axes of ReduceSum", x + Integers("a", {2}) + Node("ReduceSum", "x,a"), 13, "axis=[1]"},
      {"the axis of CumSum", x + Integers("a", {2}, true) + Node("CumSum", "x,a"), 13, "axis=1"},
      {"the depth of OneHot",
       "input { name: 'x' type { tensor_type { elem_type: 7 shape { dim { dim_value: 2 } } } } "
       "}\n" +
           Integers("d", {6}, true) + Halves("v", {1, 3}) + Node("OneHot", "x,d,v"),
       13, "1.5f, 0.5f, depth=3"},
      {"a condition",
       x + Cast("c", {2}, 9) +
           Node("If", "c", body("then_branch", "Exp") + body("else_branch", "Relu")),
       13, "exp(%x)"},
  };
  for (const auto& row : rows) {
    EXPECT_THAT(Text(Model(row.graph, row.opset)), HasSubstr(row.relay)) << row.what;
  }
  EXPECT_EQ(Values(Model(Halves("a", {1}, true) + Halves("b", {6}, true) + Halves("d", {2}, true) +
                         Node("Range", "a,b,d"))),
            (std::vector<double>{0.5, 1.5, 2.5}));
}

// A constant that is data stays quantized, for integer products.
TEST(KnownValues, WeightsStayQuantized) {
  const std::string text =
      Text(Model(Input("x", "2,3") + Halves("w", {1, 2, 3}) + Node("Mul", "x,w")));
  EXPECT_THAT(text, HasSubstr("qnn.dequantize"));
}

// A NaN bound has the same effect as a bound that the model computes.
TEST(KnownValues, BoundsOfClipMayBeNoNumber) {
  const std::string nan = "initializer { name: 'b' data_type: 1 float_data: nan }\n";
  EXPECT_THAT(Text(Model(Input("x", "2") + nan + Node("Clip", "x,b"))), HasSubstr("maximum(%x, "));
  EXPECT_THAT(Text(Model(Floats("x", "dims: 2", {1, 2}) + nan + Node("Clip", "x,b"))),
              Not(HasSubstr("found")));
}

}  // namespace
}  // namespace kiln::onnx_frontend
