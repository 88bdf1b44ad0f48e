// SPDX-License-Identifier: Apache-2.0
// What the user says of a model that is imported.
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

// The shape, and perhaps the dtype, that the user gives to an input: takes the place of dynamic
// dimensions.
struct InputPin {
  std::string name;
  Shape shape;
  std::optional<DType> dtype;
};

// A dimension of an input or an output as the model file says it.
struct Extent {
  std::optional<int64_t> value;  // none: it is open
  std::string symbol;            // of an open one: those of one symbol are equal; may be empty
  // The size that an operator which reads the input wants of an open one; none if no operator says it.
  std::optional<int64_t> wanted = {};
};

// An input or an output of a model.
struct ModelPort {
  std::string name;
  std::string kind;             // "tensor", "sequence", "map", "optional" or "sparse tensor"
  std::optional<DType> dtype;   // of tensors, if Kiln has it
  std::optional<int> rank;      // of tensors, if the model says it
  std::vector<Extent> extents;  // as many
  bool is_convolved = false;    // read by a convolution
  bool is_state = false;  // of an input: a recurrent operator begins with it, or with a part of it
};

// "data:1x3x224x224" or "data:1x3x224x224:float32"; a scalar is "x:". The name may contain ':'.
// InvalidArgument with the form that is wanted.
absl::StatusOr<InputPin> ParseInputPin(absl::string_view text);

// What the user says of a model's inputs.
struct ImportOptions {
  std::vector<InputPin> pins;
  // Sizes of open dimensions, by the symbols that the model's inputs have for them.
  std::map<std::string, int64_t> dims;
  // Names of values, or of operators for all that they make, that are the model's outputs instead of its
  // own.
  std::vector<std::string> outputs;
  // Inputs that are fixed: they are constants of the graph, and none of its inputs.
  std::map<std::string, Tensor> constants;
};

// Computes the outputs of a graph without inputs, in at most `work` operations on numbers, of which
// those that it took are subtracted. ResourceExhausted where it takes more.
using Evaluator = std::function<absl::StatusOr<std::vector<Tensor>>(const Graph&, int64_t* work)>;

}  // namespace kiln::frontend

#endif  // KILN_COMPILER_FRONTEND_COMMON_IMPORT_OPTIONS_H_
