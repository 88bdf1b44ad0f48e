// SPDX-License-Identifier: Apache-2.0
// Graph: a model, or the body of a fused group, as plain arrays and ids.
//
//   Graph g;
//   ValueId a = g.AddInput("a", {{1, 2}, DType::UInt(8)});
//   ValueId b = g.AddInput("b", {{1, 2}, DType::UInt(8)});
//   NodeId add = g.AddNode({.op = FindOp("add"), .inputs = {a, b}}, {{{1, 2}, DType::UInt(8)}});
//   g.outputs = {g.nodes[add].outputs[0]};
//
// A value is either an input, a constant or an output of a node. Nodes are in topological order: a
// node's inputs are defined before it. A graph contains no tuples: an operator takes and returns a
// list of values, and the parser and printer of Relay text translate. A pass does not change a
// graph in place. It builds a new one (see GraphRewriter in rewrite.h).
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
  std::string name;      // the model's name of an input; otherwise a hint, may be empty
  NodeId node = kNoId;   // kNodeOutput: the producer
  int output_index = 0;  // kNodeOutput: index among the outputs of the producer
  Tensor constant;       // kConstant: the data
};

// The origin of a node, for messages: a line of Relay text or a node of a model file.
struct SourceLocation {
  std::string file;
  int line = 0;  // 1-based; 0 if the file is not text
  int column = 0;
  std::string node;  // name of the node in an ONNX or TFLite file

  // Returns "model.relay:3:8: ", "model.onnx: node 'conv1': " or "".
  std::string ToString() const;
};

struct Graph;

struct Node {
  const OpSchema* op = nullptr;  // null for a group, which is defined by `body`
  Attrs attrs;                   // normalized; a group has Primitive, Compiler, global_symbol, …
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  std::shared_ptr<const Graph> body;
  SourceLocation source;

  bool is_group() const { return op == nullptr; }
  // Returns the operator's name, such as "nn.conv2d", or "fn" for a group.
  absl::string_view op_name() const { return op == nullptr ? absl::string_view("fn") : op->name; }
};

struct Graph {
  std::vector<Value> values;
  std::vector<Node> nodes;
  std::vector<ValueId> inputs;   // in the order of the parameters
  std::vector<ValueId> outputs;  // a value may occur twice, and may be an input or a constant
  std::vector<std::string> output_names;  // one per output, or empty: "output", "output0", …
  Attrs attrs;                            // attributes of @main: input_scales and the like

  ValueId AddInput(std::string name, TensorType type);
  ValueId AddConstant(Tensor tensor, std::string name = "");
  // Takes node.op, attrs, inputs, body and source. Creates `num_outputs` output values without
  // types.
  NodeId AddNode(Node node, int num_outputs);
  // Like the other AddNode, but creates one output value per type.
  NodeId AddNode(Node node, absl::Span<const TensorType> output_types);

  const Value& value(ValueId id) const { return values[static_cast<size_t>(id)]; }
  Value& value(ValueId id) { return values[static_cast<size_t>(id)]; }
  const Node& node(NodeId id) const { return nodes[static_cast<size_t>(id)]; }
  // The value must have a type.
  const TensorType& type(ValueId id) const { return *values[static_cast<size_t>(id)].type; }
  bool is_constant(ValueId id) const { return value(id).kind == ValueKind::kConstant; }

  // Returns the model's name of output `i`. If the model names no outputs, the name is "output" for
  // a single output, otherwise "output0", "output1", ….
  std::string OutputName(int i) const;
  // Returns the nodes that read each value, in order. A node that reads a value twice is listed
  // twice.
  std::vector<std::vector<NodeId>> Consumers() const;
};

// True if both graphs are the same computation, written the same way: operators, attributes, edges,
// types, constants, and names of inputs and outputs are equal. Source locations, name hints and
// unused constants are ignored.
bool operator==(const Graph& a, const Graph& b);

// True if a function with these attributes stays a node with a body: Primitive=1 (a fused group) or
// Compiler="…" (external).
bool IsGroupAttrs(const Attrs& attrs);

// Checks the invariants of a graph. Returns Internal with the first violation:
// - Ids are in range, nodes are in topological order, and output values point back to their node.
// - Inputs and constants have types. With `typed`, every value has a type.
// - Attributes are normalized, and the number of inputs and outputs fits the schema.
// - Names of inputs are unique and not empty.
// - Bodies are valid too, and their signature fits the node.
absl::Status Verify(const Graph& graph, bool typed);

}  // namespace kiln

#endif  // KILN_COMPILER_GRAPH_GRAPH_H_
