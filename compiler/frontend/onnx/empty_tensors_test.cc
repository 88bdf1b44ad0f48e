// SPDX-License-Identifier: Apache-2.0
// Tensors without elements, as operands and as results. They have shapes like other tensors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "compiler/frontend/onnx/values_of.h"

namespace kiln::onnx_frontend {
namespace {

using testing::HasSubstr;

constexpr int kInt64 = onnx::TensorProto::INT64, kBool = onnx::TensorProto::BOOL;

std::string Node(absl::string_view op, absl::string_view inputs, absl::string_view rest = "") {
  return absl::StrCat("op_type: '", op, "' output: 'y' ", rest, " input: '",
                      absl::StrJoin(absl::StrSplit(inputs, ','), "' input: '"), "' ");
}

// Returns zeros, as many as the shape has.
Given Zeros(const char* name, const std::vector<int64_t>& shape,
            int type = onnx::TensorProto::FLOAT) {
  int64_t count = 1;
  for (int64_t extent : shape) count *= extent;
  return {name, shape, std::vector<double>(static_cast<size_t>(count), 0), type};
}

struct EmptyCase {
  std::string node;
  std::vector<Given> data;  // inputs of the model or initializers
  Shape shape;
  std::vector<Given> known = {};  // always initializers
  int opset = 18;
};

// Checks that the value of 'y' has the shape and that its elements, if any, are 0.
void Expect(const std::vector<EmptyCase>& cases) {
  for (const EmptyCase& test : cases) {
    for (bool at_run_time : {false, true}) {
      ModelCase model = {test.node, test.data, {}, test.opset, at_run_time};
      if (at_run_time) {
        model.initializers = test.known;
      } else {
        model.inputs.insert(model.inputs.end(), test.known.begin(), test.known.end());
      }
      const absl::StatusOr<Tensor> found = TensorOf(model);
      ASSERT_TRUE(found.ok()) << test.node << ": " << found.status();
      EXPECT_EQ(found->type().shape, test.shape) << test.node;
      for (int64_t i = 0; i < found->type().num_elements(); ++i) {
        EXPECT_EQ(found->AsDouble(i), 0) << test.node;
      }
    }
  }
}

TEST(EmptyTensors, ThatAttributesAskFor) {
  const Given x = Zeros("x", {2, 3}), image = Zeros("x", {1, 1, 4, 4});
  const std::string places = "output: 'places' ";
  Expect({
      {Node("TopK", "x,k", places), {x}, {2, 0}, {Ints("k", {0})}},
      {Node("TopK", "x,k", places + Attr("axis", 0)), {x}, {0, 3}, {Ints("k", {0})}},
      {Node("TopK", "x", places + Attr("k", 0)), {x}, {2, 0}, {}, 9},
      {Node("Tile", "x,r"), {x}, {0, 6}, {Ints("r", {0, 2})}},
      {Node("Tile", "x,r"), {x}, {2, 0}, {Ints("r", {1, 0})}},
      {Node("Resize", "x,,s"), {image}, {1, 1, 0, 8}, {{"s", {4}, {1, 1, 0.2, 2}}}},
      {Node("Resize", "x,,s", Attr("mode", "linear") + Attr("antialias", 1)),
       {image},
       {1, 1, 0, 2},
       {{"s", {4}, {1, 1, 0.2, 0.5}}}},
      {Node("Resize", "x,,,s"), {image}, {1, 1, 0, 4}, {Ints("s", {1, 1, 0, 4})}},
      {Node("Upsample", "x,s"), {image}, {1, 1, 4, 0}, {{"s", {4}, {1, 1, 1, 0.1}}}, 9},
      {Node("Expand", "x,s"), {Zeros("x", {1, 3})}, {0, 3}, {Ints("s", {0, 1})}},
      {Node("Slice", "x,a,b"), {x}, {0, 3}, {Ints("a", {1}), Ints("b", {1})}},
      {Node("Pad", "x,p"), {x}, {2, 0}, {Ints("p", {0, -1, 0, -2})}},
      {Node("CenterCropPad", "x,s"), {x}, {2, 0}, {Ints("s", {2, 0})}},
      {Node("OneHot", "i,d,v"),
       {Zeros("i", {2}, kInt64)},
       {2, 0},
       {Ints("d", {0}), {"v", {2}, {0, 1}}}},
      {Node("ConstantOfShape", "s"), {}, {0, 3}, {Ints("s", {0, 3})}},
      {Node("Range", "a,b,c"),
       {},
       {0},
       {{"a", {}, {3}, kInt64}, {"b", {}, {3}, kInt64}, {"c", {}, {1}, kInt64}}},
      {Node("Compress", "x,c", Attr("axis", 0)), {x}, {0, 3}, {{"c", {2}, {0, 0}, kBool}}},
      {Node("NonZero", "x"), {}, {2, 0}, {x}},
      {Node("HannWindow", "n"), {}, {0}, {{"n", {}, {0}, kInt64}}},
  });
}

TEST(EmptyTensors, ThatMove) {
  const Given none = Zeros("x", {0, 3}), of_rows = Zeros("x", {2, 0});
  Expect({
      {Node("Identity", "x"), {none}, {0, 3}},
      {Node("Transpose", "x"), {none}, {3, 0}},
      {Node("Reshape", "x,s", Attr("allowzero", 1)), {none}, {2, 0, 5}, {Ints("s", {2, 0, 5})}},
      {Node("Flatten", "x"), {Zeros("x", {0, 3, 2})}, {0, 6}},
      {Node("Squeeze", "x,a"), {Zeros("x", {0, 1})}, {0}, {Ints("a", {1})}},
      {Node("Unsqueeze", "x,a"), {none}, {1, 0, 3}, {Ints("a", {0})}},
      {Node("Concat", "x,y0", Attr("axis", 0)), {none, Zeros("y0", {2, 3})}, {2, 3}},
      {Node("Concat", "x,x", Attr("axis", 1)), {none}, {0, 6}},
      {Node("Split", "x,p", Attr("axis", 1) + "output: 'z' "),
       {of_rows},
       {2, 0},
       {Ints("p", {0, 0})}},
      {Node("Slice", "x,a,b"), {none}, {0, 3}, {Ints("a", {0}), Ints("b", {9})}},
      {Node("Gather", "x,i"), {Zeros("x", {2, 3}), Zeros("i", {0}, kInt64)}, {0, 3}},
      {Node("Gather", "x,i", Attr("axis", 1)), {none, Zeros("i", {2}, kInt64)}, {0, 2}},
      {Node("GatherElements", "x,i"), {Zeros("x", {2, 3}), Zeros("i", {0, 3}, kInt64)}, {0, 3}},
      {Node("GatherND", "x,i"), {Zeros("x", {2, 3}), Zeros("i", {0, 2}, kInt64)}, {0}},
      {Node("ScatterElements", "x,i,u"),
       {Zeros("x", {2, 3}), Zeros("i", {0, 3}, kInt64), Zeros("u", {0, 3})},
       {2, 3}},
      {Node("ScatterND", "x,i,u"),
       {Zeros("x", {2, 3}), Zeros("i", {0, 1}, kInt64), Zeros("u", {0, 3})},
       {2, 3}},
      {Node("Tile", "x,r"), {none}, {0, 6}, {Ints("r", {3, 2})}},
      {Node("Expand", "x,s"), {Zeros("x", {0, 1})}, {0, 4}, {Ints("s", {1, 4})}},
      {Node("Pad", "x,p"), {of_rows}, {2, 3}, {Ints("p", {0, 1, 0, 2})}},
      {Node("Where", "c,x,x"), {Zeros("c", {0, 1}, kBool), none}, {0, 3}},
      {Node("ReverseSequence", "x,n"), {Zeros("x", {3, 0}), Zeros("n", {0}, kInt64)}, {3, 0}},
      {Node("DepthToSpace", "x", Attr("blocksize", 2)), {Zeros("x", {0, 4, 2, 2})}, {0, 1, 4, 4}},
      {Node("SpaceToDepth", "x", Attr("blocksize", 2)), {Zeros("x", {0, 1, 4, 4})}, {0, 4, 2, 2}},
      {Node("Trilu", "x"), {of_rows}, {2, 0}},
      {Node("EyeLike", "x"), {of_rows}, {2, 0}},
      {Node("TopK", "x,k", "output: 'places' "), {of_rows}, {2, 0}, {Ints("k", {0})}},
      {Node("TopK", "x,k", "output: 'places' "), {none}, {0, 2}, {Ints("k", {2})}},
      {Node("OneHot", "i,d,v"),
       {Zeros("i", {0}, kInt64)},
       {0, 3},
       {Ints("d", {3}), {"v", {2}, {0, 1}}}},
      {Node("Resize", "x,,s"),
       {Zeros("x", {0, 1, 2, 2})},
       {0, 1, 4, 4},
       {{"s", {4}, {1, 1, 2, 2}}}},
      {Node("NonZero", "x"), {}, {2, 0}, {none}},
      {Node("Unique", "x"), {}, {0}, {Zeros("x", {0})}},
  });
}

TEST(EmptyTensors, ThatAreComputedWith) {
  const Given none = Zeros("x", {0, 3}), image = Zeros("x", {0, 2, 4, 4});
  const Given w = Zeros("w", {3, 2, 3, 3}), channels = Zeros("c", {2});
  const std::string kernel = Attr("kernel_shape", std::vector<int>{2, 2});
  Expect({
      {Node("Relu", "x"), {none}, {0, 3}},
      {Node("Add", "x,b"), {none, Zeros("b", {3})}, {0, 3}},
      {Node("Cast", "x", Attr("to", kInt64)), {none}, {0, 3}},
      {Node("Clip", "x"), {none}, {0, 3}},
      {Node("PRelu", "x,b"), {none, Zeros("b", {3})}, {0, 3}},
      {Node("CumSum", "x,a"), {none}, {0, 3}, {{"a", {}, {0}, kInt64}}},
      {Node("Softmax", "x"), {none}, {0, 3}},
      {Node("Softmax", "x"), {Zeros("x", {2, 0})}, {2, 0}},
      {Node("LogSoftmax", "x"), {none}, {0, 3}},
      {Node("Hardmax", "x"), {none}, {0, 3}},
      {Node("LpNormalization", "x"), {none}, {0, 3}},
      {Node("ReduceSum", "x,a"), {none}, {1, 3}, {Ints("a", {0})}},
      {Node("ReduceSum", "x,a"), {none}, {0, 1}, {Ints("a", {1})}},
      {Node("ReduceMax", "x,a"), {none}, {0, 1}, {Ints("a", {1})}},
      {Node("ArgMax", "x", Attr("axis", 1)), {none}, {0, 1}},
      {Node("MatMul", "x,w"), {none, Zeros("w", {3, 4})}, {0, 4}},
      {Node("MatMul", "x,w"), {Zeros("x", {2, 0}), Zeros("w", {0, 4})}, {2, 4}},
      {Node("MatMul", "x,w"), {Zeros("x", {0, 2, 3}), Zeros("w", {0, 3, 4})}, {0, 2, 4}},
      {Node("Gemm", "x,w,b"), {none, Zeros("w", {3, 4}), Zeros("b", {4})}, {0, 4}},
      {Node("Einsum", "x,w", Attr("equation", "ij,jk->ik")), {none, Zeros("w", {3, 4})}, {0, 4}},
      {Node("Det", "x"), {Zeros("x", {0, 2, 2})}, {0}},
      {Node("Conv", "x,w"), {image, w}, {0, 3, 2, 2}},
      {Node("ConvTranspose", "x,v"), {image, Zeros("v", {2, 3, 3, 3})}, {0, 3, 6, 6}},
      {Node("MaxPool", "x", kernel), {image}, {0, 2, 3, 3}},
      {Node("AveragePool", "x", kernel), {image}, {0, 2, 3, 3}},
      {Node("GlobalAveragePool", "x"), {image}, {0, 2, 1, 1}},
      {Node("BatchNormalization", "x,c,c,c,c"), {image, channels}, {0, 2, 4, 4}},
      {Node("InstanceNormalization", "x,c,c"), {image, channels}, {0, 2, 4, 4}},
      {Node("GroupNormalization", "x,c,c", Attr("num_groups", 2)), {image, channels}, {0, 2, 4, 4}},
      {Node("LayerNormalization", "x,b"), {none, Zeros("b", {3})}, {0, 3}},
      {Node("LayerNormalization", "x,b"), {Zeros("x", {2, 0}), Zeros("b", {1})}, {2, 0}},
      {Node("RMSNormalization", "x,b"), {none, Zeros("b", {3})}, {0, 3}, {}, 23},
      {Node("LRN", "x", Attr("size", 3)), {image}, {0, 2, 4, 4}},
      {Node("QuantizeLinear", "x,s"), {none}, {0, 3}, {{"s", {}, {1}}}},
      {Node("DequantizeLinear", "x,s"), {Bytes("x", {0, 3}, {})}, {0, 3}, {{"s", {}, {1}}}},
      {Node("GridSample", "x,g"), {image, Zeros("g", {0, 3, 3, 2})}, {0, 2, 3, 3}},
      {Node("RoiAlign", "x,r,b"),
       {Zeros("x", {1, 2, 4, 4}), Zeros("r", {0, 4}), Zeros("b", {0}, kInt64)},
       {0, 2, 1, 1}},
      {Node("DFT", "x"), {Zeros("x", {0, 4, 1})}, {0, 4, 2}, {}, 17},
      {Node("Attention", "q,q,q"), {Zeros("q", {0, 1, 2, 4})}, {0, 1, 2, 4}, {}, 23},
      {MachineLearningNode("LinearRegressor", FloatsAttr("coefficients", {1, 1, 1})),
       {none},
       {0, 1}},
      {MachineLearningNode("Normalizer", Attr("norm", "L2")), {none}, {0, 3}},
  });
}

// ONNX defines the reduction of an empty tensor.
TEST(EmptyTensors, ThatAreReduced) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto reduced = [](const char* op, double expected) {
    return ModelCase{Node(op, "x"), {Zeros("x", {0, 3})}, {expected}};
  };
  for (const ModelCase& test :
       {reduced("ReduceMax", -kInfinity), reduced("ReduceMin", kInfinity), reduced("ReduceProd", 1),
        reduced("ReduceL1", 0), reduced("ReduceL2", 0), reduced("ReduceLogSum", -kInfinity),
        reduced("ReduceSumSquare", 0)}) {
    const absl::StatusOr<std::vector<double>> found = ValuesOf(test);
    ASSERT_TRUE(found.ok()) << test.node << ": " << found.status();
    EXPECT_EQ(*found, test.expected) << test.node;
  }
}

// The result would need elements of an empty tensor.
TEST(EmptyTensors, ThatAreRefused) {
  const struct {
    std::string node;
    std::vector<Given> inputs;
    const char* text;
  } rows[] = {
      {Node("Resize", "x,,,s"),
       {Zeros("x", {1, 1, 0, 4}), Ints("s", {1, 1, 2, 4})},
       "data: found Tensor[(1, 1, 0, 4), float32], wanted an element, as the result has some"},
      {Node("TopK", "x,k", "output: 'places' "),
       {Zeros("x", {2}), Ints("k", {-1})},
       "K: found -1, wanted a number that is not negative"},
      {Node("TopK", "x", "output: 'places' "), {Zeros("x", {2})}, "K: found none, wanted one"},
      {Node("Tile", "x,r"),
       {Zeros("x", {2}), Ints("r", {-1})},
       "found reps [-1], wanted numbers that are not negative"},
      {Node("Gather", "x,i"), {Zeros("x", {0}), Zeros("i", {1}, kInt64)}, "wanted 0 to -1"},
      {Node("ArgMax", "x"), {Zeros("x", {0, 3})}, "found"},
  };
  for (const auto& row : rows) {
    EXPECT_THAT(ValuesOf({row.node, row.inputs, {}}).status().message(), HasSubstr(row.text))
        << row.node;
  }
}

}  // namespace
}  // namespace kiln::onnx_frontend
