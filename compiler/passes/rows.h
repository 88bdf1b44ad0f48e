// SPDX-License-Identifier: Apache-2.0
// Rows: nodes that can compute some rows of their output from some rows of their inputs, such as
// convolutions and element-wise operators. Rows are the places along axis 1 of channels-last data
// in a batch of one. They follow each other in memory.
//
//   const std::optional<RowNode> conv = RowNode::Of(graph, graph.node(id));
//   conv->Needed({8, 16})   // {{7, 17}}: the rows of each input
//   conv->AddTo(strips, {8, 16}, {{part, {7, 20}}})   // computes them from rows 7 to 19
//
// Row -1 of an input, and the row after its last, are padding that a convolution reads. If they are
// stored like other rows, all rows of an output are computed alike, even the first and the last.
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

// True if the value is not constant, has rank 4, a batch of one and more than one row.
bool HasRows(const Graph& graph, ValueId value);

class RowNode {
 public:
  // Makes a RowNode of an operator or a fused group with one output that reads all inputs but
  // constants by rows. Nothing for any other node.
  static std::optional<RowNode> Of(const Graph& graph, const Node& node);

  // The inputs that are not constants, each once.
  const std::vector<ValueId>& inputs() const { return inputs_; }
  // The type of the output, and its number of rows.
  const TensorType& type() const { return body_.type(body_.outputs[0]); }
  int64_t rows() const { return type().shape[kRowAxis]; }
  // The element, of the input's dtype, that the rows around an input hold; nothing if the
  // node needs no such rows.
  const std::optional<Tensor>& padding(size_t input) const { return paddings_[input]; }
  // The rows of each input from which these rows of the output are computed. They include rows
  // around an input that has padding(). Nothing if a row would be computed from other padding only.
  std::optional<std::vector<Rows>> Needed(Rows output) const;
  // Adds a group that computes these rows of the output. `parts` has an entry for each input, with
  // at least the rows that Needed gives.
  absl::StatusOr<ValueId> AddTo(Graph& graph, Rows output,
                                const std::vector<PartOfRows>& parts) const;

 private:
  void FindPaddings();
  // True if `value` of the body is an input with padding().
  bool HasPadding(ValueId value) const;
  // For every value of the body: the rows that are needed for these rows of the output, if any.
  std::optional<std::vector<std::optional<Rows>>> RowsInBody(Rows output) const;

  Graph body_;
  std::vector<ValueId> inputs_;
  std::vector<std::optional<Tensor>> paddings_;  // by input
  Attrs attrs_;
  SourceLocation source_;
};

}  // namespace kiln

#endif  // KILN_COMPILER_PASSES_ROWS_H_
