// SPDX-License-Identifier: Apache-2.0
// Parse(Print(g)) == g over random graphs.
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/graph/relay_text.h"
#include "compiler/graph/rewrite.h"
#include "compiler/graph/test_ops.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

constexpr DType kDTypes[] = {DType::Float(16), DType::Float(32), DType::Float(64), DType::Int(8),
                             DType::Int(16),   DType::Int(32),   DType::Int(64),   DType::UInt(8),
                             DType::UInt(16),  DType::UInt(32),  DType::UInt(64),  DType::Bool()};
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr const char* kNames[] = {"x",    "input-x::2", "/conv/out", "1",  "a//b", "a b",
                                  "meta", "\"q\"\n",    "é",         "%a", "_",    "/*c*/"};

class RandomGraphs {
 public:
  explicit RandomGraphs(uint32_t seed) : random_(seed) {}

  Graph Make(int depth) {
    Graph graph;
    const int num_inputs = Below(4);
    for (int i = 0; i < num_inputs; ++i) {
      std::string name = Below(2) == 0 ? absl::StrCat("p", i)
                                       : absl::StrCat(Pick(kNames), Below(2) == 0 ? "" : "_", i);
      graph.AddInput(std::move(name), MakeType());
    }
    const int num_nodes = Below(8);
    for (int i = 0; i < num_nodes; ++i) AddNode(graph, depth);
    const int num_outputs = Below(4);
    for (int i = 0; i < num_outputs; ++i) graph.outputs.push_back(AnyValue(graph));
    if (num_nodes > 0 && Below(2) == 0) graph.outputs = graph.nodes.back().outputs;
    if (Below(3) == 0) {
      for (size_t i = 0; i < graph.outputs.size(); ++i) {
        graph.output_names.push_back(absl::StrCat(Pick(kNames), i));
      }
    }
    return graph;
  }

  Attrs MakeAttrs() {
    Attrs attrs;
    for (const char* name : {"a", "b.c", "odd key", "inf", "True", "let", "=", "d"}) {
      if (Below(3) == 0) attrs.Set(name, MakeAttr(0));
    }
    return attrs;
  }

 private:
  int Below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }

  template <typename T, size_t n>
  const T& Pick(const T (&list)[n]) {
    return list[Below(static_cast<int>(n))];
  }

  AttrValue MakeAttr(int depth) {
    switch (Below(depth < 3 ? 6 : 5)) {
      case 0:
        return AttrValue::None();
      case 1:
        return Below(2) == 0;
      case 2:
        return static_cast<int64_t>(random_() * uint64_t{0x100000001}) * (Below(2) == 0 ? 1 : -1);
      case 3:
        return MakeDouble();
      case 4:
        return Pick(kNames);
    }
    std::vector<AttrValue> list;
    for (int i = Below(4); i > 0; --i) list.push_back(MakeAttr(depth + 1));
    return list;
  }

  // Returns a double of random bits or 1.5. A NaN is replaced by 0.1.
  double MakeDouble() {
    const uint64_t bits = Below(2) == 0 ? random_() : uint64_t{0x3ff8} << 48;
    double value;
    std::memcpy(&value, &bits, sizeof value);
    return value == value ? value : 0.1;
  }

  TensorType MakeType() {
    TensorType type{{}, Pick(kDTypes)};
    for (int i = Below(4); i > 0; --i) type.shape.push_back(Below(4));
    return type;
  }

  Tensor MakeTensor() {
    const TensorType type = Below(2) == 0 ? MakeType() : TensorType{{}, Pick(kDTypes)};
    std::string bytes;
    for (int64_t i = 0; i < type.num_bytes(); ++i) bytes.push_back(static_cast<char>(random_()));
    if (type.dtype.is_float() && Below(2) == 0) {
      constexpr double kValues[] = {0, -0.0, 1, 0.1, 1e-45, 65504, 1e308, 5e-324, -kInfinity, kNaN};
      return Tensor::Filled(type, Pick(kValues));
    }
    return Tensor(type, std::move(bytes));
  }

  ValueId AnyValue(Graph& graph) {
    const int count = static_cast<int>(graph.values.size());
    if (count == 0 || Below(5) == 0) return graph.AddConstant(MakeTensor());
    return Below(count);
  }

  void AddNode(Graph& graph, int depth) {
    Node node;
    size_t num_inputs = static_cast<size_t>(Below(4));
    int num_outputs = 1;
    if (depth < 2 && Below(4) == 0) {
      auto body = std::make_shared<Graph>(Make(depth + 1));
      num_inputs = body->inputs.size();
      num_outputs = static_cast<int>(body->outputs.size());
      node.attrs = MakeAttrs();
      node.attrs.Set("Primitive", 1);
      if (Below(2) == 0) node.attrs.Set("Compiler", "dnnl");
      node.body = std::move(body);
    } else {
      node.op = &TestOps()[static_cast<size_t>(Below(static_cast<int>(TestOps().size())))];
      node.attrs = *NormalizeAttrs(*node.op, MakeOperatorAttrs(*node.op));
      num_inputs = node.op->tuple_input ? num_inputs + 1 : node.op->inputs.size();
      if (node.op->num_optional_inputs > 0 && Below(2) == 0) --num_inputs;
      num_outputs = *node.op->NumOutputs(node.attrs, node.inputs.size());
    }
    for (size_t i = 0; i < num_inputs; ++i) node.inputs.push_back(AnyValue(graph));
    const NodeId id = graph.AddNode(std::move(node), num_outputs);
    for (ValueId output : graph.node(id).outputs) {
      if (Below(2) == 0) graph.value(output).type = MakeType();
    }
    if (graph.node(id).is_group()) TakeTypesOfBody(graph, id);
  }

  // Adapts the node's values to the body, as the verifier requires equal types: inputs become
  // constants of the body's types, outputs take the body's types.
  void TakeTypesOfBody(Graph& graph, NodeId id) {
    Node& node = graph.nodes[static_cast<size_t>(id)];
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const TensorType& type = node.body->type(node.body->inputs[i]);
      node.inputs[i] = graph.AddConstant(Tensor::Filled(type, 1));
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      graph.value(node.outputs[i]).type = node.body->value(node.body->outputs[i]).type;
    }
  }

  Attrs MakeOperatorAttrs(const OpSchema& op) {
    Attrs attrs;
    for (const AttrSchema& attr : op.attrs) {
      if (!attr.required && Below(2) == 0) continue;
      attrs.Set(attr.name, MakeTypedAttr(attr.type));
    }
    return attrs;
  }

  AttrValue MakeTypedAttr(AttrType type) {
    const AttrValue ints = AttrValue::Ints({Below(9) - 4, Below(9)});
    switch (type) {
      case AttrType::kBool:
        return Below(2) == 0;
      case AttrType::kInt:
        return Below(9) - 4;
      case AttrType::kFloat:
        return MakeDouble();
      case AttrType::kString:
        return Pick(kNames);
      case AttrType::kDType:
        return Pick(kDTypes).ToString();
      case AttrType::kInts:
        return ints;
      case AttrType::kFloats:
        return std::vector<AttrValue>{MakeDouble(), 2};
      case AttrType::kIntLists:
        return std::vector<AttrValue>{ints, ints};
      case AttrType::kIntOrInts:
        return Below(2) == 0 ? AttrValue(1 + Below(3)) : ints;
      case AttrType::kReference:
        return AttrValue::None();
    }
    return AttrValue::None();
  }

  std::mt19937_64 random_;
};

TEST(RoundTrip, RandomGraphs) {
  for (uint32_t seed = 0; seed < 1000; ++seed) {
    RandomGraphs random(seed);
    Graph graph = random.Make(0);
    graph.attrs = random.MakeAttrs();
    ASSERT_EQ(Verify(graph, /*typed=*/false), absl::OkStatus()) << "seed " << seed;
    const std::string text = PrintRelay(graph);
    absl::StatusOr<Graph> again = ParseRelay(text, "random", FindTestOp);
    ASSERT_TRUE(again.ok()) << "seed " << seed << ": " << again.status() << "\n" << text;
    ASSERT_EQ(Verify(*again, /*typed=*/false), absl::OkStatus()) << "seed " << seed << "\n" << text;
    ASSERT_TRUE(*again == graph) << "seed " << seed << "\n" << text << PrintRelay(*again);
    ASSERT_EQ(PrintRelay(*again), text) << "seed " << seed;
    const Graph live = RemoveDeadNodes(graph);
    ASSERT_EQ(Verify(live, /*typed=*/false), absl::OkStatus()) << "seed " << seed << "\n" << text;
    ASSERT_LE(live.nodes.size(), graph.nodes.size());
  }
}

TEST(RoundTrip, WithoutTypesOnlyTypesAreLost) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    const Graph graph = RandomGraphs(seed).Make(0);
    const std::string text = PrintRelay(graph, {.types = false});
    absl::StatusOr<Graph> again = ParseRelay(text, "random", FindTestOp);
    ASSERT_TRUE(again.ok()) << "seed " << seed << ": " << again.status() << "\n" << text;
    ASSERT_EQ(PrintRelay(*again, {.types = false}), text) << "seed " << seed;
  }
}

}  // namespace
}  // namespace kiln
