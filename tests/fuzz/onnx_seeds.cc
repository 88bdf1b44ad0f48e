// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/text_format.h"
#include "onnx/onnx_pb.h"
#include "tests/fuzz/seeds.h"

namespace kiln::fuzz {
namespace {

std::string Serialised(const std::string& text) {
  onnx::ModelProto model;
  if (!google::protobuf::TextFormat::ParseFromString(text, &model)) {
    std::cerr << text << "\n";
    std::abort();
  }
  return model.SerializeAsString();
}

// Returns a model with the statements of a graph, and with the text `rest` after the graph.
std::string Model(absl::string_view graph, absl::string_view rest = "", int opset = 17) {
  return Serialised(absl::StrCat("ir_version: 8 opset_import { version: ", opset,
                                 " } graph { name: 'g' ", graph, " } ", rest));
}

// Helpers for a graph's interface. Dims returns text such as "dim { dim_value: 2 }".
std::string Dims(const std::vector<int>& shape) {
  std::string dims;
  for (int extent : shape) absl::StrAppend(&dims, "dim { dim_value: ", extent, " } ");
  return dims;
}
std::string Port(absl::string_view kind, absl::string_view name, const std::vector<int>& shape,
                 int type) {
  return absl::StrCat(kind, " { name: '", name, "' type { tensor_type { elem_type: ", type,
                      " shape { ", Dims(shape), "} } } } ");
}
std::string In(absl::string_view name, const std::vector<int>& shape, int type = 1) {
  return Port("input", name, shape, type);
}
std::string Outs(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) absl::StrAppend(&text, "output { name: '", name, "' } ");
  return text;
}
std::string Node(absl::string_view op, const std::vector<std::string>& inputs,
                 const std::vector<std::string>& outputs, absl::string_view attributes = "",
                 absl::string_view domain = "") {
  std::string text = absl::StrCat("node { op_type: '", op, "' name: '", outputs[0], "' ");
  if (!domain.empty()) absl::StrAppend(&text, "domain: '", domain, "' ");
  for (const std::string& input : inputs) absl::StrAppend(&text, "input: '", input, "' ");
  for (const std::string& output : outputs) absl::StrAppend(&text, "output: '", output, "' ");
  return absl::StrCat(text, attributes, "} ");
}
std::string Int(absl::string_view name, int64_t value) {
  return absl::StrCat("attribute { name: '", name, "' type: INT i: ", value, " } ");
}
std::string Ints(absl::string_view name, const std::vector<int64_t>& values) {
  std::string text = absl::StrCat("attribute { name: '", name, "' type: INTS ");
  for (int64_t value : values) absl::StrAppend(&text, "ints: ", value, " ");
  return text + "} ";
}
std::string Text(absl::string_view name, absl::string_view value) {
  return absl::StrCat("attribute { name: '", name, "' type: STRING s: '", value, "' } ");
}
std::string Body(absl::string_view name, absl::string_view graph) {
  return absl::StrCat("attribute { name: '", name, "' type: GRAPH g { name: 'b' ", graph, " } } ");
}
// Initializers: floats, all 0.5, and integers.
std::string Floats(absl::string_view name, const std::vector<int>& shape) {
  std::string text = absl::StrCat("initializer { name: '", name, "' data_type: 1 ");
  int count = 1;
  for (int extent : shape) {
    absl::StrAppend(&text, "dims: ", extent, " ");
    count *= extent;
  }
  for (int i = 0; i < count; ++i) absl::StrAppend(&text, "float_data: 0.5 ");
  return text + "} ";
}
std::string Scalar(absl::string_view name, double value) {
  return absl::StrCat("initializer { name: '", name, "' data_type: 1 float_data: ", value, " } ");
}
std::string Byte(absl::string_view name, int type, int value) {
  return absl::StrCat("initializer { name: '", name, "' data_type: ", type, " int32_data: ", value,
                      " } ");
}
std::string Longs(absl::string_view name, const std::vector<int64_t>& values) {
  std::string text =
      absl::StrCat("initializer { name: '", name, "' data_type: 7 dims: ", values.size(), " ");
  for (int64_t value : values) absl::StrAppend(&text, "int64_data: ", value, " ");
  return text + "} ";
}
std::string Long(absl::string_view name, int64_t value) {
  return absl::StrCat("initializer { name: '", name, "' data_type: 7 int64_data: ", value, " } ");
}
std::string Bool(absl::string_view name, int value) { return Byte(name, 9, value); }

std::string Convolutions() {
  return Model(
      In("x", {1, 2, 6, 6}) + Floats("w", {4, 2, 3, 3}) + Floats("b", {4}) +
      Floats("d", {4, 1, 2, 2}) + Floats("t", {4, 1, 2, 2}) + Floats("v", {3, 4}) +
      "initializer { name: 'raw' data_type: 1 dims: 3 raw_data: "
      "'\\000\\000\\200\\077\\000\\000\\000"
      "\\100\\000\\000\\100\\100' } " +
      Node("Conv", {"x", "w", "b"}, {"c"}, Ints("pads", {1, 1, 1, 1}) + Ints("strides", {1, 1})) +
      Node("BatchNormalization", {"c", "b", "b", "b", "b"}, {"n"}) + Node("Relu", {"n"}, {"r"}) +
      Node("MaxPool", {"r"}, {"p"}, Ints("kernel_shape", {2, 2}) + Ints("strides", {2, 2})) +
      Node("Conv", {"p", "d"}, {"dw"}, Int("group", 4) + Text("auto_pad", "SAME_UPPER")) +
      Node("ConvTranspose", {"dw", "t"}, {"ct"}, Ints("strides", {2, 2}) + Int("group", 4)) +
      Node("LRN", {"ct"}, {"l"}, Int("size", 3)) +
      Node("InstanceNormalization", {"l", "b", "b"}, {"i"}) +
      Node("AveragePool", {"i"}, {"a"}, Ints("kernel_shape", {3, 3}) + Int("ceil_mode", 1)) +
      Node("GlobalAveragePool", {"a"}, {"g"}) + Node("Flatten", {"g"}, {"f"}) +
      Node("Gemm", {"f", "v", "raw"}, {"m"}, Int("transB", 1)) + Node("Softmax", {"m"}, {"y"}) +
      Outs({"y"}));
}

std::string Shapes() {
  return Model(
      In("x", {2, 3, 4}) + Long("zero", 0) + Longs("one", {1}) + Longs("last", {-1}) +
      Longs("ends", {3}) + Longs("twice", {2, 1, 1}) + Longs("pads", {0, 0, 1, 0, 0, 1}) +
      Longs("halves", {1, 2}) + Long("start", 0) + Long("limit", 6) + Long("step", 2) +
      Node("Shape", {"x"}, {"s"}) + Node("Gather", {"s", "zero"}, {"s0"}) + Longs("front", {0}) +
      Node("Unsqueeze", {"s0", "front"}, {"su"}) + Outs({"y", "z", "q", "su"}) +
      Node("Gather", {"s", "one"}, {"s1"}) +
      Node("Concat", {"s1", "last"}, {"to"}, Int("axis", 0)) + Node("Reshape", {"x", "to"}, {"r"}) +
      Node("Transpose", {"r"}, {"t"}, Ints("perm", {1, 0})) +
      Node("Slice", {"t", "one", "ends", "one", "one"}, {"c"}) +
      Node("Range", {"start", "limit", "step"}, {"g"}) + Node("Cast", {"g"}, {"gf"}, Int("to", 1)) +
      Node("ConstantOfShape", {"s"}, {"k"}) + Node("Add", {"k", "x"}, {"xx"}) +
      Node("Tile", {"xx", "twice"}, {"ti"}) + Node("Pad", {"ti", "pads"}, {"p"}) +
      Node("Split", {"x", "halves"}, {"a", "b"}, Int("axis", 1)) +
      Node("Squeeze", {"a", "one"}, {"q"}) + Node("Greater", {"p", "p"}, {"gt"}) +
      Node("Where", {"gt", "p", "p"}, {"y"}) + Node("Mul", {"c", "c"}, {"z"}));
}

std::string Selection() {
  return Model(
      In("x", {2, 3, 4}) + Longs("k", {2}) + Long("depth", 3) + Floats("values", {2}) +
      Long("one", 1) + Longs("axes", {1}) +
      "initializer { name: 'i' data_type: 7 dims: 1 dims: 2 int64_data: 0 int64_data: 1 } " +
      Floats("updates", {1, 4}) + Longs("sizes", {2, 3, 8}) + Floats("roi", {0}) +
      Node("TopK", {"x", "k"}, {"v", "at"}, Int("axis", 2)) +
      Node("ArgMax", {"x"}, {"am"}, Int("axis", 1) + Int("keepdims", 0)) +
      Node("OneHot", {"am", "depth", "values"}, {"oh"}) + Node("CumSum", {"x", "one"}, {"cs"}) +
      Node("GatherND", {"x", "i"}, {"gn"}) + Node("ScatterND", {"x", "i", "updates"}, {"sn"}) +
      Node("GatherElements", {"x", "at"}, {"ge"}, Int("axis", 2)) +
      Node("ReduceSum", {"x", "axes"}, {"rs"}) +
      Node("ReduceL2", {"x"}, {"rl"}, Ints("axes", {0, 2}) + Int("keepdims", 0)) +
      Node("Einsum", {"x", "x"}, {"es"}, Text("equation", "bij,bkj->bik")) +
      Node("Resize", {"x", "", "", "sizes"}, {"re"}, Text("mode", "linear")) +
      Node("LayerNormalization", {"x", "scale"}, {"ln"}) + Floats("scale", {4}) +
      Node("Clip", {"x", "lo"}, {"cl"}) + Scalar("lo", -1) +
      Outs({"v", "oh", "cs", "gn", "sn", "ge", "rs", "rl", "es", "re", "ln", "cl"}));
}

std::string Branches() {
  const std::string then = Node("Neg", {"x"}, {"t"}) + Outs({"t"}),
                    otherwise = Node("Abs", {"x"}, {"e"}) + Outs({"e"});
  const std::string bodies = Body("then_branch", then) + Body("else_branch", otherwise);
  const std::string loop = Port("input", "i", {}, 7) + Port("input", "go", {}, 9) +
                           Port("input", "s", {2}, 1) + Node("Add", {"s", "x"}, {"s2"}) +
                           Node("Identity", {"go"}, {"go2"}) + Node("Mul", {"s2", "x"}, {"row"}) +
                           Outs({"go2", "s2", "row"});
  const std::string scan = Port("input", "a", {2}, 1) + Port("input", "e", {2}, 1) +
                           Node("Add", {"a", "e"}, {"a2"}) + Node("Identity", {"a2"}, {"o"}) +
                           Outs({"a2", "o"});
  return Model(
      In("x", {2}) + In("c", {}, 9) + In("rows", {3, 2}) + Bool("yes", 1) + Long("times", 3) +
      Node("If", {"yes"}, {"y1"}, bodies) + Node("If", {"c"}, {"y2"}, bodies) +
      Node("Loop", {"times", "yes", "x"}, {"y3", "y4"}, Body("body", loop)) +
      Node("Scan", {"x", "rows"}, {"y5", "y6"}, Int("num_scan_inputs", 1) + Body("body", scan)) +
      Outs({"y1", "y2", "y3", "y4", "y5", "y6"}));
}

std::string Functions() {
  const std::string function =
      "functions { name: 'Scaled' domain: 'own' input: 'a' output: 'b' attribute: 'alpha' "
      "opset_import { version: 17 } "
      "node { op_type: 'LeakyRelu' input: 'a' output: 'm' attribute { name: 'alpha' type: FLOAT "
      "ref_attr_name: 'alpha' } } node { op_type: 'Elu' input: 'm' output: 'b' } } "
      "functions { name: 'Twice' domain: 'own' input: 'a' output: 'b' opset_import { version: 17 } "
      "opset_import { domain: 'own' version: 1 } "
      "node { op_type: 'Scaled' domain: 'own' input: 'a' output: 'm' attribute { name: 'alpha' "
      "type: FLOAT f: 0.5 } } node { op_type: 'Scaled' domain: 'own' input: 'm' output: 'b' "
      "attribute { name: 'alpha' type: FLOAT f: 0.25 } } } "
      "opset_import { domain: 'own' version: 1 } metadata_props { key: 'k' value: 'v' }";
  return Model(In("x", {2, 2}) + Node("Twice", {"x"}, {"y"}, "", "own") + Outs({"y"}), function);
}

std::string Quantized() {
  const std::string bytes = [] {
    std::string text = "initializer { name: 'w' data_type: 3 dims: 2 dims: 1 dims: 2 dims: 2 ";
    for (int i = 0; i < 8; ++i) absl::StrAppend(&text, "int32_data: ", i - 4, " ");
    return text + "} ";
  }();
  return Model(In("x", {1, 1, 4, 4}) + In("m", {2, 3}, 2) + bytes + Scalar("sx", 0.05) +
               Byte("zx", 2, 128) + Scalar("sw", 0.01) + Byte("zw", 3, 0) + Scalar("sy", 0.1) +
               Byte("zy", 2, 3) +
               "initializer { name: 'mm' data_type: 2 dims: 3 dims: 1 int32_data: 1 int32_data: 2 "
               "int32_data: 255 } " +
               Node("QuantizeLinear", {"x", "sx", "zx"}, {"q"}) +
               Node("QLinearConv", {"q", "sx", "zx", "w", "sw", "zw", "sy", "zy"}, {"qc"}) +
               Node("DequantizeLinear", {"qc", "sy", "zy"}, {"y"}) +
               Node("ConvInteger", {"q", "w", "zx", "zw"}, {"ci"}) +
               Node("MatMulInteger", {"m", "mm", "zx", "zx"}, {"mi"}) +
               Node("QLinearMatMul", {"m", "sx", "zx", "mm", "sx", "zx", "sy", "zy"}, {"qm"}) +
               Node("DynamicQuantizeLinear", {"x"}, {"dq", "ds", "dz"}) +
               Node("DequantizeLinear", {"w", "sw", "zw"}, {"wf"}) +
               Node("Conv", {"x", "wf"}, {"cf"}) + Outs({"y", "ci", "mi", "qm", "dq", "cf"}));
}

std::string Recurrent() {
  return Model(
      In("x", {3, 1, 2}) + Floats("w4", {1, 8, 2}) + Floats("r4", {1, 8, 2}) +
      Floats("b4", {1, 16}) + Floats("w3", {1, 6, 2}) + Floats("r3", {1, 6, 2}) +
      Floats("w1", {1, 2, 2}) +
      Node("LSTM", {"x", "w4", "r4", "b4"}, {"a", "ah", "ac"}, Int("hidden_size", 2)) +
      Node("GRU", {"x", "w3", "r3"}, {"b"}, Int("hidden_size", 2) + Int("linear_before_reset", 1)) +
      Node("RNN", {"x", "w1", "w1"}, {"c"}, Int("hidden_size", 2) + Text("direction", "reverse")) +
      Outs({"a", "ac", "b", "c"}));
}

std::string Sequences() {
  return Model(In("x", {2, 2}) + Long("one", 1) + Node("SequenceConstruct", {"x", "x"}, {"s"}) +
               Node("Relu", {"x"}, {"r"}) + Node("SequenceInsert", {"s", "r", "one"}, {"s2"}) +
               Node("SequenceAt", {"s2", "one"}, {"e"}) + Node("SequenceLength", {"s2"}, {"n"}) +
               Node("ConcatFromSequence", {"s2"}, {"c"}, Int("axis", 0)) +
               Node("SplitToSequence", {"x"}, {"parts"}, Int("axis", 1)) +
               Node("SequenceAt", {"parts", "one"}, {"p"}) + Node("Optional", {"x"}, {"o"}) +
               Node("OptionalGetElement", {"o"}, {"og"}) + Outs({"e", "n", "c", "p", "og"}));
}

std::string Elementwise() {
  std::string graph = In("x", {2, 2}) + In("i", {2, 2}, 6) + Node("Equal", {"i", "i"}, {"eq"});
  std::vector<std::string> outs;
  const auto add = [&](const char* op, const std::vector<std::string>& inputs) {
    outs.push_back(absl::StrCat("y", outs.size()));
    graph += Node(op, inputs, {outs.back()});
  };
  for (const char* op :
       {"Abs",  "Acosh",    "Atan",        "Ceil",      "Celu",  "Cos",     "Erf",
        "Exp",  "Floor",    "HardSigmoid", "HardSwish", "IsNaN", "Log",     "LogSoftmax",
        "Mish", "Neg",      "Reciprocal",  "Round",     "Selu",  "Sigmoid", "Sign",
        "Sin",  "Softplus", "Sqrt",        "Tanh",      "Trilu", "Hardmax", "Det"}) {
    add(op, {"x"});
  }
  for (const char* op : {"Add", "Div", "Max", "Mean", "Min", "Mod", "Mul", "PRelu", "Pow", "Sub",
                         "Sum", "Equal", "MatMul"}) {
    add(op, {op == std::string("Mod") ? "i" : "x", op == std::string("Mod") ? "i" : "x"});
  }
  add("Not", {"eq"});
  return Model(graph + Outs(outs));
}

}  // namespace

std::string OnnxWithExternalData() {
  return Model(
      In("x", {2}) +
      "initializer { name: 'w' data_type: 1 dims: 2 data_location: EXTERNAL external_data "
      "{ key: 'location' value: 'weights.bin' } external_data { key: 'offset' value: '0' } "
      "external_data { key: 'length' value: '8' } } " +
      Node("Add", {"x", "w"}, {"y"}) + Outs({"y"}));
}

std::vector<Seed> OnnxSeeds() {
  return {{"onnx/branches.onnx", Branches()},
          {"onnx/convolutions.onnx", Convolutions()},
          {"onnx/elementwise.onnx", Elementwise()},
          {"onnx/functions.onnx", Functions()},
          {"onnx/quantised.onnx", Quantized()},
          {"onnx/recurrent.onnx", Recurrent()},
          {"onnx/selection.onnx", Selection()},
          {"onnx/sequences.onnx", Sequences()},
          {"onnx/shapes.onnx", Shapes()}};
}

std::vector<Seed> Seeds() {
  std::vector<Seed> seeds = OnnxSeeds();
  for (Seed& seed : TfliteSeeds()) seeds.push_back(std::move(seed));
  return seeds;
}

}  // namespace kiln::fuzz
