// SPDX-License-Identifier: Apache-2.0
// The user's options for the import of a model.
#ifndef KILN_COMPILER_FRONTEND_COMMON_IMPORT_OPTIONS_H_
#define KILN_COMPILER_FRONTEND_COMMON_IMPORT_OPTIONS_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/graph/graph.h"

namespace kiln::frontend {

// The shape, and optionally the dtype, that the user gives to an input. It replaces dynamic
// dimensions.
struct InputPin {
  std::string name;
  Shape shape;
  std::optional<DType> dtype;
};

// A dimension of an input or an output, as declared in the model file.
struct Extent {
  std::optional<int64_t> value;  // absent: the dimension is open
  std::string symbol;            // of an open one, may be empty; equal symbols are equal sizes
  // The size of an open dimension that an operator reading the input requires. Absent if none does.
  std::optional<int64_t> wanted = {};
};

// An input or an output of a model.
struct ModelPort {
  std::string name;
  std::string kind;             // "tensor", "sequence", "map", "optional" or "sparse tensor"
  std::optional<DType> dtype;   // of a tensor; absent if Kiln lacks it
  std::optional<int> rank;      // of a tensor; absent if the model does not declare it
  std::vector<Extent> extents;  // one per dimension
  bool is_convolved = false;    // a convolution reads it
  bool is_state = false;  // an input that is (part of) the initial state of a recurrent operator
};

// Parses "data:1x3x224x224" or "data:1x3x224x224:float32"; a scalar is "x:". The name may contain
// ':'. InvalidArgument with the expected form otherwise.
absl::StatusOr<InputPin> ParseInputPin(absl::string_view text);

// The user's options for a model's inputs and outputs.
struct ImportOptions {
  std::vector<InputPin> pins;
  // Sizes of open dimensions, keyed by their symbols in the model's inputs.
  std::map<std::string, int64_t> dims;
  // Names of values, or of operators for all their results, that replace the outputs of the model.
  std::vector<std::string> outputs;
  // Inputs with fixed values. They become constants of the graph instead of inputs.
  std::map<std::string, Tensor> constants;
};

// Computes the outputs of a graph without inputs in at most `work` operations on numbers. Subtracts
// the operations used from `work`. ResourceExhausted if more are needed.
using Evaluator = std::function<absl::StatusOr<std::vector<Tensor>>(const Graph&, int64_t* work)>;

}  // namespace kiln::frontend

#endif  // KILN_COMPILER_FRONTEND_COMMON_IMPORT_OPTIONS_H_
