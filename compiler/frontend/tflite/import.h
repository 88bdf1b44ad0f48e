// SPDX-License-Identifier: Apache-2.0
// TFLite import: a model file becomes a Graph of Relay operators.
//
//   KILN_ASSIGN_OR_RETURN(Graph graph,
//                         ImportTflite(bytes, "model.tflite", {}, EvaluateConstants));
//
// Names of inputs and outputs are kept; a node's SourceLocation has the name of its operator's
// first output. Data stay channels-last. What a model keeps from one run to the next, resource
// variables and variable tensors, are inputs `<name>` and outputs `<name>.next` of the graph behind
// the model's own; the graph's attributes state_inputs and state_initial have their names and what
// each holds at first. The operators are rows of tables: converter.h.
#ifndef KILN_COMPILER_FRONTEND_TFLITE_IMPORT_H_
#define KILN_COMPILER_FRONTEND_TFLITE_IMPORT_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/frontend/common/import_options.h"
#include "compiler/frontend/common/narrow_weights.h"
#include "compiler/graph/graph.h"

namespace kiln::tflite_frontend {

using frontend::Evaluator;
using frontend::ImportOptions;
using frontend::InputPin;
using frontend::ModelPort;

// Whether the bytes are those of a TFLite file, by its identifier.
bool IsTflite(absl::string_view bytes);

// `bytes` are untrusted. Errors: "model.tflite: node 'conv1' (CONV_2D): …"; all operators that are
// not supported are told at once. A pin may change extents that the file calls dynamic; without one
// they are those that the file has. All values of the result have types.
absl::StatusOr<Graph> ImportTflite(absl::string_view bytes, const std::string& path,
                                   const ImportOptions& options, const Evaluator& evaluate);

// The model's inputs. InvalidArgument, naming `path`, if the bytes are no TFLite model.
absl::StatusOr<std::vector<ModelPort>> ReadInputs(absl::string_view bytes, const std::string& path);

// The model's description and metadata, as they are written. Errors as of ReadInputs.
absl::StatusOr<std::vector<std::pair<std::string, std::string>>> ReadProperties(
    absl::string_view bytes, const std::string& path);

// Quantized constants of 8 bits or fewer that an operator with float32 results reads (DEQUANTIZE, hybrid
// FULLY_CONNECTED, …). Errors as of ReadInputs.
absl::StatusOr<frontend::NarrowWeights> ReadNarrowWeights(absl::string_view bytes,
                                                          const std::string& path);

}  // namespace kiln::tflite_frontend

#endif  // KILN_COMPILER_FRONTEND_TFLITE_IMPORT_H_
