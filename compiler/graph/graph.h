// SPDX-License-Identifier: Apache-2.0
// Graph: a model, or the body of a fused group, as plain arrays and ids.
//
//   Graph g;
//   ValueId a = g.AddInput("a", {{1, 2}, DType::UInt(8)});
//   ValueId b = g.AddInput("b", {{1, 2}, DType::UInt(8)});
//   NodeId add = g.AddNode({.op = FindOp("add"), .inputs = {a, b}}, {{{1, 2}, DType::UInt(8)}});
//   g.outputs = {g.nodes[add].outputs[0]};
//
// Values are inputs, constants or outputs of nodes; each has exactly one of these origins. Nodes
// are in topological order: a node's inputs are defined before it. Tuples do not exist here: an
// operator takes and gives a list of values, and the parser and printer of Relay text translate. A
// pass does not change a graph in place; it builds a new one (see GraphRewriter in rewrite.h).
#ifndef KILN_COMPILER_GRAPH_GRAPH_H_
#define KILN_COMPILER_GRAPH_GRAPH_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "compiler/base/tensor.h"
#include "compiler/graph/attrs.h"
#include "compiler/graph/op_schema.h"

namespace kiln {

using ValueId = int32_t;
using NodeId = int32_t;
inline constexpr int32_t kNoId = -1;

enum class ValueKind { kInput, kConstant, kNodeOutput };

struct Value {
  ValueKind kind = ValueKind::kInput;
  // Absent until InferTypes has run over a parsed graph; inputs and constants always have it.
  std::optional<TensorType> type;
  std::string name;      // of an input: the model's name for it. Otherwise a hint, may be empty
  NodeId node = kNoId;   // kNodeOutput: the producer …
  int output_index = 0;  // … and which of its outputs
  Tensor constant;       // kConstant
};

// Where a node comes from, for messages: a line of Relay text or a node of a model file.
struct SourceLocation {
  std::string file;
  int line = 0;  // 1-based; 0: not a text file
  int column = 0;
  std::string node;  // name of the node in an ONNX or TFLite file

  // "model.relay:3:8: ", "model.onnx: node 'conv1': " or "".
  std::string ToString() const;
};

struct Graph;

struct Node {
  const OpSchema* op = nullptr;  // null: the node is a group, and `body` its meaning
  Attrs attrs;                   // normalized; of a group: Primitive, Compiler, global_symbol, …
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  std::shared_ptr<const Graph> body;
  SourceLocation source;

  bool is_group() const { return op == nullptr; }
  // "nn.conv2d", or "fn" of a group.
  absl::string_view op_name() const { return op == nullptr ? absl::string_view("fn") : op->name; }
};

struct Graph {
  std::vector<Value> values;
  std::vector<Node> nodes;
  std::vector<ValueId> inputs;   // in the order of the parameters
  std::vector<ValueId> outputs;  // a value may stand here twice, and may be an input or a constant
  std::vector<std::string> output_names;  // as many as outputs, or empty: "output", "output0", …
  Attrs attrs;                            // of @main: input_scales and the like

  ValueId AddInput(std::string name, TensorType type);
  ValueId AddConstant(Tensor tensor, std::string name = "");
  // Takes node.op, attrs, inputs, body and source; makes `num_outputs` output values without types.
  NodeId AddNode(Node node, int num_outputs);
  // The same with types.
  NodeId AddNode(Node node, absl::Span<const TensorType> output_types);

  const Value& value(ValueId id) const { return values[static_cast<size_t>(id)]; }
  Value& value(ValueId id) { return values[static_cast<size_t>(id)]; }
  const Node& node(NodeId id) const { return nodes[static_cast<size_t>(id)]; }
  // Types must have been inferred.
  const TensorType& type(ValueId id) const { return *values[static_cast<size_t>(id)].type; }
  bool is_constant(ValueId id) const { return value(id).kind == ValueKind::kConstant; }

  // "output" if there is one output, "output0", "output1", … if there are several, unless the model
  // names them.
  std::string OutputName(int i) const;
  // For every value the nodes that read it, in order; a node that reads a value twice stands there
  // twice.
  std::vector<std::vector<NodeId>> Consumers() const;
};

// The same computation written the same way: operators, attributes, edges, types, constants, names
// of inputs and outputs. Source locations and name hints do not count, nor do values that nothing
// reads.
bool operator==(const Graph& a, const Graph& b);

// Whether a function with these attributes stays a node with a body: Primitive=1 (a fused group) or
// Compiler="…" (external).
bool IsGroupAttrs(const Attrs& attrs);

// Internal, with the first broken rule: ids in range, topological order, every output value points
// back at its node, inputs and constants have types, attributes are normalized, arity fits the
// schema, names of inputs are unique and not empty, bodies verify too and fit their node. With
// `typed`, every value has a type.
absl::Status Verify(const Graph& graph, bool typed);

}  // namespace kiln

#endif  // KILN_COMPILER_GRAPH_GRAPH_H_
