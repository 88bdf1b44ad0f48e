// SPDX-License-Identifier: Apache-2.0
// Imports the bytes of a model file, in any format that Kiln knows, to a Graph.
//
//   KILN_ASSIGN_OR_RETURN(Graph graph, ImportModel(bytes, "model.onnx"));
//   KILN_ASSIGN_OR_RETURN(Graph graph, ImportModel(bytes, "model.onnx",
//                                                  {.pins = {{"x", {1, 3, 224, 224}}}}));
//
// Callers that have a file use this package. The frontends (compiler/frontend) need a function that
// evaluates constants, and this package provides it to them.
#ifndef KILN_COMPILER_IMPORT_IMPORT_H_
#define KILN_COMPILER_IMPORT_IMPORT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/frontend/common/import_options.h"
#include "compiler/frontend/common/narrow_weights.h"
#include "compiler/graph/graph.h"
#include "compiler/graph/model_origin.h"

namespace kiln {

enum class ModelFormat { kRelay, kTflite, kOnnx };

// Returns the format, recognized by the contents. Relay text begins with `#[version`, TFLite has
// its identifier, and everything else counts as ONNX, which is a protobuf without a marker.
ModelFormat FormatOf(absl::string_view bytes);

// Facts about a model file besides its graph.
struct ImportFindings {
  // Messages for the user, one line each. Each begins with the path.
  std::vector<std::string> notes;
  // Weights that the file stores in fewer bits than the floats of the graph.
  frontend::NarrowWeights narrow_weights;
  ModelOrigin origin;
};

// `bytes` are untrusted. `path` is for messages, and ONNX external data is read from its folder.
//
// An open leading dimension of an input, usually the batch, is 1 if `options` do not give its size.
// A note then explains how to choose another size. If other dimensions are open, the error names
// options with which the import succeeds, if one of the likely sizes does. If `findings` is not
// null, it is set if the import succeeds. Its notes are also set if the import fails.
absl::StatusOr<Graph> ImportModel(absl::string_view bytes, const std::string& path,
                                  const frontend::ImportOptions& options = {},
                                  ImportFindings* findings = nullptr);

// Returns the inputs of an ONNX or TFLite model as declared in the file. InvalidArgument for Relay
// text, whose inputs cannot be constants of ImportOptions.
absl::StatusOr<std::vector<frontend::ModelPort>> ReadModelInputs(absl::string_view bytes,
                                                                 const std::string& path);

}  // namespace kiln

#endif  // KILN_COMPILER_IMPORT_IMPORT_H_
