// SPDX-License-Identifier: Apache-2.0
// Refusals of operators on shapes, signals and images: operands that do not fit, and attributes out
// of range.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/frontend/onnx/model_text.h"

namespace kiln::onnx_frontend {
namespace {

using Values = std::vector<int64_t>;

// Returns an initializer of one int64.
std::string Int(absl::string_view name, int64_t value) {
  return absl::StrCat("initializer { name: '", name, "' data_type: 7 int64_data: ", value, " }\n");
}

std::string Scales(const std::vector<float>& values) {
  return Floats("s", absl::StrCat("dims: ", values.size()), values);
}

TEST(ShapeRefusals, OfAxesAndParts) {
  const std::string x = Input("x", "4");
  ExpectRefusals({
      {Model(x + Node("Unsqueeze", "x")), "inputs: found no axes, wanted one or more"},
      {Model(x + Ints("a", {0, -3}) + Node("Unsqueeze", "x,a")),
       "axes: found 0 twice, wanted each once"},
      {Model(x + Ints("p", {1, 2}) + Node("Split", "x,p", "output: 'z'")),
       "split: found [1, 2], wanted 2 sizes that add up to 4"},
      {Model(x + Node("Slice", "x")), "inputs: found no starts or ends, wanted both"},
      {Model(x + Node("Reshape", "x")), "inputs: found no shape, wanted one"},
      {Model(x + Ints("a", {0, 0}) + Node("CumSum", "x,a")),
       "axis: found Tensor[(2,), int64], wanted a scalar"},
      {Model(x + Node("Pad", "x")), "pads: found none, wanted some"},
      {Model(x + Ints("p", {1}) + Node("Pad", "x,p")), "pads: found 1 values, wanted 2"},
      {Model(x + Ints("p", {1, 1}) + Floats("v", "dims: 2", {1, 2}) + Node("Pad", "x,p,v")),
       "constant_value: found Tensor[(2,), float32], wanted one element"},
      {Model(x + Ints("p", {1 << 25, 0}) + Node("Pad", "x,p", Attr("mode", "wrap")), 19),
       "pads: found 33554432 and 0 around 4 places, wanted at most 16777216 around at least one"},
      {Model(x + Ints("s", {1, 1}) + Node("CenterCropPad", "x,s"), 18),
       "shape: found 2 extents, wanted 1"},
      {Model(x + Ints("s", {-1}) + Node("CenterCropPad", "x,s"), 18),
       "shape: found (-1,), wanted no negative extent"},
  });
}

TEST(ShapeRefusals, OfValuesThatMakeTensors) {
  const std::string x = Input("x", "4");
  const auto range = [](const std::string& bounds) {
    return Model(bounds + Node("Range", "a,b,d"));
  };
  const auto bounds = [](int64_t start, int64_t limit, int64_t delta) {
    return Int("a", start) + Int("b", limit) + Int("d", delta);
  };
  ExpectRefusals({
      {range(Ints("a", {0, 1}) + Int("b", 9) + Int("d", 1)),
       "a bound: found Tensor[(2,), int64], wanted a scalar"},
      {range(Input("a", "") + Int("b", 9) + Int("d", 1)),
       "fix it with --constant a=VALUE, or end the model before this node (--outputs)"},
      {range(bounds(0, 9, 0)), "delta: found 0, wanted another number"},
      {range(bounds(0, 100000000, 1)), "the range: found 1e+08 values, wanted fewer than 1e8"},
      {Model(x + Int("d", 3) + Int("v", 1) + Node("OneHot", "x,d,v")),
       "depth and values: found int64 and int64, wanted 1 and 2 elements"},
      {Model(x + Int("c", 1) + Node("Compress", "x,c")), "condition: found int64, wanted rank 1"},
      {Model(x + Ints("c", {1, 1, 1, 1, 1}) + Node("Compress", "x,c")),
       "condition: found Tensor[(5,), int64], wanted at most 4"},
      {Model(x + Ints("t", {1, 1}) + Node("Dropout", "x,,t")),
       "training_mode: found Tensor[(2,), int64], wanted one bool"},
      {Model(x + Ints("r", {1, 1}) + Int("t", 1) + Node("Dropout", "x,r,t")),
       "ratio: found Tensor[(2,), int64], wanted one"},
      {Model(Input("x", "4,4") + Scales({1, 1}) +
                 Node("DequantizeLinear", "x,s", Attr("block_size", 9)),
             21),
       "block_size: found 9, wanted from 1 to 4"},
      {Model(Floats("b", "dims: 1 dims: 1 dims: 4", {0, 0, 1, 1}) +
             Floats("s", "dims: 1 dims: 1 dims: 2", {1, 1}) + Node("NonMaxSuppression", "b,s")),
       "boxes and scores: found Tensor[(1, 1, 4), float32] and Tensor[(1, 1, 2), float32], wanted "
       "(batches, boxes, 4) and (batches, classes, boxes)"},
      {Model(Input("x", "4") + Ints("n", {1, 40000, 4}) + Ints("m", {1, 1, 40000}) +
             Int("k", 40000) +
             "node { op_type: 'ConstantOfShape' input: 'n' output: 'b' }"
             "node { op_type: 'ConstantOfShape' input: 'm' output: 's' }" +
             Node("NonMaxSuppression", "b,s,k")),
       "(NonMaxSuppression): 1 times 40000 boxes"},
  });
}

TEST(ShapeRefusals, OfSequences) {
  const std::string x = Input("x", "4"),
                    pair =
                        "node { op_type: 'SequenceConstruct' input: 'x' input: 'x' output: 's' }",
                    other = "node { op_type: 'SequenceConstruct' input: 'x' output: 't' }",
                    empty = "node { op_type: 'SequenceEmpty' output: 'e' }";
  const auto split = [&](const std::string& sizes) {
    return Model(x + sizes + Node("SplitToSequence", "x,p"));
  };
  const auto map = [&](const std::string& inputs, const std::string& body) {
    return Model(x + pair + other +
                     Node("SequenceMap", inputs,
                          "attribute { name: 'body' type: GRAPH g { " + body + " } } "),
                 17);
  };
  ExpectRefusals({
      {Model(x + pair + Node("Relu", "s")), "input 's': found a sequence, wanted a tensor"},
      {Model(x + Node("SequenceLength", "x")), "input 0: found a tensor, wanted a sequence"},
      {Model(x + pair + Node("SequenceAt", "s")), "inputs: found input 1 is missing, wanted"},
      {split(Int("p", 0)), "split: found 0, wanted 1 or more"},
      {split(Ints("p", {3, 2})), "split: found [3, 2], wanted sizes that add up to 4"},
      {split(Ints("p", {3})), "split: found [3], wanted sizes that add up to 4"},
      {Model(empty + Node("ConcatFromSequence", "e", Attr("axis", 0))),
       "the sequence: found no tensor in it, wanted at least one"},
      {Model(x + pair + Node("ConcatFromSequence", "s")), "axis: found none, wanted an axis"},
      {Model(x + Input("z", "5") +
             "node { op_type: 'SequenceConstruct' input: 'x' input: 'z' output: 's' }" +
             Node("ConcatFromSequence", "s", Attr("axis", 0) + Attr("new_axis", 1))),
       "tensors that are stacked: found Tensor[(4,), float32] and Tensor[(5,), float32], wanted "
       "one type"},
      {map("s,t", "input { name: 'a' } input { name: 'b' } output { name: 'a' }"),
       "sequences: found 2 and 1 long, wanted one length"},
      {map("s",
           "input { name: 'a' } node { op_type: 'SequenceConstruct' input: 'a' output: 'r' } "
           "output { name: 'r' }"),
       "an output of the body: found a sequence, wanted a tensor"},
      {Model("node { op_type: 'Optional' output: 'o' }" + Node("OptionalGetElement", "o"), 15),
       "input 0: found an optional without a value, wanted a value"},
  });
}

TEST(ShapeRefusals, OfLoops) {
  const std::string
      x = Input("x", "3"),
      add =
          "input { name: 'a' } input { name: 'b' } node { op_type: 'Add' input: 'a' input: 'b' "
          "output: 'r' } output { name: 'r' } ";
  const auto scan = [&](const std::string& inputs, const std::string& body,
                        const std::string& attributes = "", int64_t scanned = 1, int opset = 13) {
    return Model(x + Input("z", "2,4") + Input("v", "5") +
                     Node("Scan", inputs,
                          "output: 'w' attribute { name: 'body' type: GRAPH g { " + body + " } } " +
                              Attr("num_scan_inputs", scanned) + attributes),
                 opset);
  };
  ExpectRefusals({
      {scan("x,z", add),
       "body: found 1 outputs, wanted 2 or more, of which the first 1 are states"},
      {scan("x,z", add + "output { name: 'a' }", Attr("scan_input_axes", Values{0, 1})),
       "scan_input_axes: found 2 values, wanted 1"},
      {scan("x,v", add + "output { name: 'a' }", "", 2),
       "lengths of the sequences: found 3 and 5, wanted one length"},
      {scan("x,v",
            "input { name: 'a' } input { name: 'b' } node { op_type: 'SequenceConstruct' input: "
            "'a' output: 's' } output { name: 'a' } output { name: 's' }"),
       "an output of the body: found a sequence, wanted a tensor"},
      {scan(",x,v", add + "output { name: 'a' }", "", 1, 8),
       "input 2: found Tensor[(5,), float32], wanted a batch of states or sequences"},
      {Model(x + Int("n", 1) +
             Node("Loop", "n,,x",
                  "output: 'w' attribute { name: 'body' type: GRAPH g { input { name: 'i' } input "
                  "{ name: 'go' } input { name: 'v' } output { name: 'go' } output { name: 'v' } "
                  "} } ")),
       "body: found 2 outputs for a loop with 1 values that it carries and 2 outputs, wanted 3 or "
       "more"},
      {Model(x + Int("n", 1) +
             Node("Loop", "n,,x",
                  "output: 'w' attribute { name: 'body' type: GRAPH g { input { name: 'i' } input "
                  "{ name: 'go' } input { name: 'v' } node { op_type: 'SequenceConstruct' input: "
                  "'v' output: 's' } output { name: 'go' } output { name: 'v' } output { name: "
                  "'s' } } } ")),
       "a scan output: found a sequence, wanted a tensor"},
  });
}

TEST(ShapeRefusals, OfConstants) {
  const std::string two =
      "attribute { name: 'value' type: TENSOR t { data_type: 1 dims: 2 "
      "float_data: [1, 2] } } ";
  ExpectRefusals({
      {Model(Node("Constant", "", "attribute { name: 'value' type: TENSOR } ")),
       "(Constant): attribute value is missing"},
      {Model(Ints("s", {2}) + Node("ConstantOfShape", "s", two)),
       "value: found Tensor[(2,), float32], wanted one element"},
  });
}

TEST(ShapeRefusals, OfImages) {
  const auto resize = [](const char* data, const std::string& operands, const char* inputs,
                         const std::string& attributes = "") {
    return Model(Input("x", data) + operands + Node("Resize", inputs, attributes), 18);
  };
  const auto grid = [](const Values& size) {
    return Model(Input("x", "1,2,3") + Ints("s", size) + Node("AffineGrid", "x,s"), 20);
  };
  const auto shifted = [](const char* data, const char* weight,
                          const std::string& attributes = "") {
    return Model(Input("x", data) + Input("w", weight) + Input("o", "1,2,3,3") +
                     Node("DeformConv", "x,w,o", attributes),
                 19);
  };
  const std::string linear = Attr("antialias", 1) + Attr("mode", "linear"),
                    cubic = Attr("antialias", 1) + Attr("mode", "cubic");
  ExpectRefusals({
      {resize("1,1,4,4", Scales({1, 1}), "x,,s"), "scales: found 2 values, wanted 4"},
      {resize("4", Scales({1e9F}), "x,,s"), "an extent of the result: found 4e+09, wanted 0 to "},
      {resize("4", Scales({2}), "x,,s", Attr("mode", "area")),
       "mode: found area, wanted nearest, linear or cubic"},
      {resize("5000", Ints("s", {4000}), "x,,,s", linear),
       "extents: found 5000 to 4000 by 0.8, wanted a product of at most 16777216"},
      {resize("8388608", Ints("s", {1}), "x,,,s", cubic),
       "scale: found 1.19209e-07, wanted a larger one"},
      {resize("4", Ints("s", {2}), "x,,,s",
              Attr("coordinate_transformation_mode", "tf_crop_and_resize")),
       "roi: found none, wanted 2 values"},
      {grid({1, 1}), "size: found 2 extents, wanted 4 or 5"},
      {grid({2, 1, 4, 4}), "theta: found Tensor[(1, 2, 3), float32], wanted (2, 2, 3)"},
      {grid({1, 1, 65536, 65536}),
       "size: found (1, 1, 65536, 65536), wanted at most 16777216 places"},
      {Model(Input("x", "1,1,4,4") + Input("g", "1,4,2") + Node("GridSample", "x,g"), 16),
       "data and grid: found Tensor[(1, 1, 4, 4), float32] and Tensor[(1, 4, 2), float32], wanted "
       "one rank, 4 or 5"},
      {shifted("1,2,3", "1,2,1"),
       "data Tensor[(1, 2, 3), float32] and weight Tensor[(1, 2, 1), float32]; images are "
       "supported"},
      {shifted("1,2,3,3", "1,2,1,1", Attr("group", 3)), "group: found 3, wanted a divisor of 2"},
      {shifted("1,2,3,3", "1,1,1,1"),
       "weight: found Tensor[(1, 1, 1, 1), float32], wanted outputs in 1 groups, of 2 channels "
       "each"},
      {shifted("1,2,3,3", "1,2,4,4"), "kernel: found (4, 4), wanted one that fits into the data"},
      {shifted("1,1,4096,4096", "1,1,1,1"),
       "the result: found (4096, 4096), wanted at most 16777216 taps"},
      {shifted("1,2,4,4", "1,2,1,1"),
       "offset: found Tensor[(1, 2, 3, 3), float32], wanted (1, 2, 4, 4)"},
  });
}

TEST(ShapeRefusals, OfSignals) {
  const auto dft = [](const char* data, const std::string& attributes = "") {
    return Model(Input("x", data) + Node("DFT", "x", attributes), 17);
  };
  const auto stft = [](const char* signal, int64_t step, int64_t length) {
    return Model(Input("x", signal) + Int("s", step) + Int("l", length) + Node("STFT", "x,s,,l"),
                 17);
  };
  ExpectRefusals({
      {Model(Int("s", -1) + Node("HannWindow", "s"), 17),
       "size: found -1, wanted one number from 0 to 67108864"},
      {Model(Ints("s", {1, 2}) + Node("HannWindow", "s"), 17),
       "size: found Tensor[(2,), int64], wanted one number from 0 to 67108864"},
      {Model(Int("b", 65536) + Int("l", 1 << 24) + Int("r", 8000) + Int("e", 0) + Int("f", 4000) +
                 Node("MelWeightMatrix", "b,l,r,e,f"),
             17),
       "the matrix: found 8388609 x 65536, wanted at most 67108864"},
      {dft("4"), "data: found Tensor[(4,), float32], wanted rank 2 or more"},
      {dft("1,4,3"), "data: found Tensor[(1, 4, 3), float32], wanted 1 or 2 numbers per sample"},
      {dft("1,100000,1"),
       "a transform of 100000 samples; it is computed as a product with a matrix"},
      {dft("1,4,1", Attr("axis", 2)), "axis: found the last, wanted one of samples"},
      {dft("1,4,1", Attr("inverse", 1) + Attr("onesided", 1)),
       "data: found Tensor[(1, 4, 1), float32], wanted 2 numbers per bin"},
      {dft("1,1,2", Attr("inverse", 1) + Attr("onesided", 1)),
       "data: found Tensor[(1, 1, 2), float32], wanted 2 bins or more"},
      {stft("4", 1, 2), "signal: found Tensor[(4,), float32], wanted rank 2 or 3"},
      {stft("1,4,1", 1, 9), "frames: found 9 samples, wanted 1 to 4"},
      {stft("1,16384,1", 1, 8192), "frames: found 8193 x 8192, wanted at most 67108864"},
  });
}

}  // namespace
}  // namespace kiln::onnx_frontend
