// SPDX-License-Identifier: Apache-2.0
// ModelFile: an ONNX file that is read once. For callers that look at the inputs before they choose
// the shapes for the import, or that import the file several times.
//
//   KILN_ASSIGN_OR_RETURN(ModelFile file, ModelFile::Parse(bytes, "model.onnx"));
//   options.pins = ShapesFor(file.interface().inputs);
//   KILN_ASSIGN_OR_RETURN(Graph graph, file.Import(options, EvaluateConstants));
#ifndef KILN_COMPILER_FRONTEND_ONNX_MODEL_FILE_H_
#define KILN_COMPILER_FRONTEND_ONNX_MODEL_FILE_H_

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/frontend/common/narrow_weights.h"
#include "compiler/frontend/onnx/import.h"
#include "compiler/graph/graph.h"

namespace onnx {
class ModelProto;
}  // namespace onnx

namespace kiln::onnx_frontend {

class ModelFile {
 public:
  // Like ReadInterface. `bytes` need not outlive the call. If `outputs` is not empty, the model
  // ends at the values or nodes of these names (end_at.h).
  static absl::StatusOr<ModelFile> Parse(absl::string_view bytes, const std::string& path,
                                         const std::vector<std::string>& outputs = {});

  ModelInterface interface() const;
  // Returns the initializers that a DequantizeLinear of the main graph reads.
  frontend::NarrowWeights narrow_weights() const;
  // Returns the paths of the files with data of tensors, keyed by their locations in the model.
  std::map<std::string, std::string> external_files() const;
  // Returns metadata_props unchanged.
  std::vector<std::pair<std::string, std::string>> properties() const;
  // Like ImportOnnx. `notes`, which may be null, gets a line that begins with the path for each
  // output with a wrong declared shape, each input of noise, and normalization in training mode.
  absl::StatusOr<Graph> Import(const ImportOptions& options, const Evaluator& evaluate,
                               std::vector<std::string>* notes = nullptr) const;

 private:
  ModelFile(std::shared_ptr<const onnx::ModelProto> model, std::string path)
      : model_(std::move(model)), path_(std::move(path)) {}

  std::shared_ptr<const onnx::ModelProto> model_;
  std::string path_;  // for messages and the folder of external data
};

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_MODEL_FILE_H_
