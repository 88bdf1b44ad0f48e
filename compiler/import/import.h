// SPDX-License-Identifier: Apache-2.0
// From the bytes of a model file, of any format that Kiln knows, to a Graph.
//
//   KILN_ASSIGN_OR_RETURN(Graph graph, ImportModel(bytes, "model.onnx"));
//   KILN_ASSIGN_OR_RETURN(Graph graph, ImportModel(bytes, "model.onnx",
//                                                  {.pins = {{"x", {1, 3, 224, 224}}}}));
//
// This is the door for all who have a file; front ends by themselves (compiler/frontend) want the
// function that evaluates constants, which this one hands them.
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

// The format is told by the contents: Relay text begins with `#[version`, TFLite has its
// identifier, and all else is taken for ONNX, which is a protobuf and has no mark.
ModelFormat FormatOf(absl::string_view bytes);

// Facts of a model file besides its graph.
struct ImportFindings {
  // Lines that a user should read, each of which begins with the path.
  std::vector<std::string> notes;
  // The weights that the file stores in fewer bits than the floats of the graph.
  frontend::NarrowWeights narrow_weights;
  ModelOrigin origin;
};

// `bytes` are untrusted; `path` is for messages, and its folder is where ONNX has external data.
//
// An open leading dimension of an input, as a rule that of a batch, is 1 if `options` do not say its
// size; a note then says how to choose another. If others are open, the error names options with
// which the import succeeds, if likely sizes do it. `findings` are set if they are not null and the
// import succeeds; its notes also if it fails.
absl::StatusOr<Graph> ImportModel(absl::string_view bytes, const std::string& path,
                                  const frontend::ImportOptions& options = {},
                                  ImportFindings* findings = nullptr);

// The inputs of an ONNX or TFLite model, as the file says them. InvalidArgument for Relay text,
// whose inputs can be no constants of ImportOptions.
absl::StatusOr<std::vector<frontend::ModelPort>> ReadModelInputs(absl::string_view bytes,
                                                                 const std::string& path);

}  // namespace kiln

#endif  // KILN_COMPILER_IMPORT_IMPORT_H_
