// SPDX-License-Identifier: Apache-2.0
// Rows: nodes of which some rows of the output can be computed from some rows of the inputs, as
// those of convolutions and of element-wise operators can. Rows are the places along axis 1 of
// channels-last data, in a batch of one: they lie behind each other in memory.
//
//   const std::optional<RowNode> conv = RowNode::Of(graph, graph.node(id));
//   conv->Needed({8, 16})   // {{7, 17}}: the rows of each input
//   conv->AddTo(strips, {8, 16}, {{part, {7, 20}}})   // computes them of rows 7 to 19
//
// Row -1 of an input, and the one behind its last, are padding that a convolution reads. Where they
// are made like other rows, all rows of an output are computed alike, the first and the last too.
#ifndef KILN_COMPILER_PASSES_ROWS_H_
#define KILN_COMPILER_PASSES_ROWS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/base/tensor.h"
#include "compiler/graph/graph.h"

namespace kiln {

inline constexpr size_t kRowAxis = 1;

// begin <= row < end.
struct Rows {
  int64_t begin = 0, end = 0;

  int64_t count() const { return end - begin; }
  bool operator==(const Rows&) const = default;
};

// Some rows of a value, as a value of another graph.
struct PartOfRows {
  ValueId value = kNoId;
  Rows rows;
};

// A channels-last value of rank 4 in a batch of one, of more than one row.
bool HasRows(const Graph& graph, ValueId value);

class RowNode {
 public:
  // An operator or a fused group with one output, all of whose inputs but constants are read by
  // rows; nothing for any other node.
  static std::optional<RowNode> Of(const Graph& graph, const Node& node);

  // The inputs that are no constants, each once.
  const std::vector<ValueId>& inputs() const { return inputs_; }
  // Of the output, and how many rows that has.
  const TensorType& type() const { return body_.type(body_.outputs[0]); }
  int64_t rows() const { return type().shape[kRowAxis]; }
  // What rows around an input hold, one element of its dtype; nothing where they are not asked for.
  const std::optional<Tensor>& padding(size_t input) const { return paddings_[input]; }
  // The rows of each input that these rows of the output are computed of, rows around it included if
  // it has padding(); nothing if they are computed of other padding alone.
  std::optional<std::vector<Rows>> Needed(Rows output) const;
  // Adds a group that computes these rows of the output. The parts, one for each input, have the
  // rows that it needs, and may have more.
  absl::StatusOr<ValueId> AddTo(Graph& graph, Rows output,
                                const std::vector<PartOfRows>& parts) const;

 private:
  // Finds the paddings.
  void FindPaddings();
  // Whether `value` of the body is an input with padding().
  bool HasPadding(ValueId value) const;
  // Of every value of the body that rows are needed of.
  std::optional<std::vector<std::optional<Rows>>> RowsInBody(Rows output) const;

  Graph body_;
  std::vector<ValueId> inputs_;
  std::vector<std::optional<Tensor>> paddings_;  // by input
  Attrs attrs_;
  SourceLocation source_;
};

}  // namespace kiln

#endif  // KILN_COMPILER_PASSES_ROWS_H_
