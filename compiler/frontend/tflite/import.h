// SPDX-License-Identifier: Apache-2.0
// TFLite import: converts a model file to a Graph of Relay operators.
//
//   KILN_ASSIGN_OR_RETURN(Graph graph,
//                         ImportTflite(bytes, "model.tflite", {}, EvaluateConstants));
//
// Names of inputs and outputs are kept. The SourceLocation of a node has the name of its operator's
// first output. Data stays channels-last. State that a model keeps between runs (resource variables
// and variable tensors) becomes inputs `<name>` and outputs `<name>.next` of the graph, after the
// model's own. The graph's attributes state_inputs, state_outputs and state_initial have their
// names and initial values. The operators are rows of tables (converter.h).
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

// True if the bytes have the identifier of a TFLite file.
bool IsTflite(absl::string_view bytes);

// `bytes` are untrusted. Errors have the form "model.tflite: node 'conv1' (CONV_2D): …". All
// unsupported operators are reported at once. A pin may change extents that the file marks as
// dynamic. Without a pin, they are the extents in the file. All values of the result have types.
absl::StatusOr<Graph> ImportTflite(absl::string_view bytes, const std::string& path,
                                   const ImportOptions& options, const Evaluator& evaluate);

// Returns the model's inputs. InvalidArgument, naming `path`, if the bytes are not a TFLite model.
absl::StatusOr<std::vector<ModelPort>> ReadInputs(absl::string_view bytes, const std::string& path);

// Returns the model's description and metadata unchanged. Errors as for ReadInputs.
absl::StatusOr<std::vector<std::pair<std::string, std::string>>> ReadProperties(
    absl::string_view bytes, const std::string& path);

// Returns the quantized constants of 8 bits or fewer that operators with float32 results read
// (DEQUANTIZE, hybrid FULLY_CONNECTED, …). Errors as for ReadInputs.
absl::StatusOr<frontend::NarrowWeights> ReadNarrowWeights(absl::string_view bytes,
                                                          const std::string& path);

}  // namespace kiln::tflite_frontend

#endif  // KILN_COMPILER_FRONTEND_TFLITE_IMPORT_H_
