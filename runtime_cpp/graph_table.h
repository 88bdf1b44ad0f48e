// SPDX-License-Identifier: Apache-2.0
//
// The table of a graph executor: the operator functions to call, in order, and their tensors.
//
// It is read from JSON with the keys nodes, arg_nodes, heads, node_row_ptr and attrs. A node is an
// argument of the model (op "null") or a call (op "tvm_op"). An entry is one result of one node:
// entry node_row_ptr[n] + i is result i of node n. Entries with the same storage id may share
// memory. The JSON is not trusted. After ParseGraphTable has accepted it, all indices in the table
// are in range, and every node comes after its inputs.
//
//   absl::StatusOr<GraphTable> table = ParseGraphTable(json);
#ifndef KILN_RUNTIME_CPP_GRAPH_TABLE_H_
#define KILN_RUNTIME_CPP_GRAPH_TABLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "dlpack/dlpack.h"

namespace kiln::runtime {

// Limits of a table.
inline constexpr size_t kMaxGraphJsonBytes = size_t{256} << 20;
inline constexpr size_t kMaxGraphNodes = size_t{1} << 20;
inline constexpr int64_t kMaxGraphStorages = int64_t{1} << 20;

// Names of functions with a special meaning.
inline constexpr char kNopFunction[] = "__nop";    // The result is the input with another shape.
inline constexpr char kCopyFunction[] = "__copy";  // The result is a copy of the input.

struct GraphEntry {
  std::vector<int64_t> shape;
  DLDataType dtype = {};
  int64_t storage_id = 0;
  int32_t device_type = kDLCPU;
  int64_t size_bytes = 0;
};

struct GraphNode {
  std::string name;
  bool is_argument = false;
  std::string func_name;       // Empty for an argument.
  bool flatten_data = false;   // The function takes its tensors as one-dimensional.
  std::vector<size_t> inputs;  // Numbers of entries.
  size_t first_entry = 0;  // Its results are entries first_entry … first_entry + num_outputs - 1.
  size_t num_outputs = 0;
};

struct GraphTable {
  std::vector<GraphNode> nodes;
  std::vector<GraphEntry> entries;
  std::vector<size_t> arguments;  // Numbers of nodes, in the order of the model's inputs.
  std::vector<size_t> heads;      // Numbers of entries, in the order of the model's outputs.
};

// Parses the JSON. Returns InvalidArgument, with the place in the JSON, if it breaks a rule.
absl::StatusOr<GraphTable> ParseGraphTable(absl::string_view json);

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_GRAPH_TABLE_H_
