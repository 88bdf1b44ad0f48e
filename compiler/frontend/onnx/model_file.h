// SPDX-License-Identifier: Apache-2.0
// ModelFile: an ONNX file that is read once, for those who want to look at its inputs before they
// say with which shapes it is imported, or who import it several times.
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
  // As ReadInterface; `bytes` need not outlive the call. If there are `outputs`, the model ends at the
  // values or nodes of these names (end_at.h).
  static absl::StatusOr<ModelFile> Parse(absl::string_view bytes, const std::string& path,
                                         const std::vector<std::string>& outputs = {});

  ModelInterface interface() const;
  // Initializers that a DequantizeLinear of the main graph reads.
  frontend::NarrowWeights narrow_weights() const;
  // The files that tensors have their data in, by their locations in the model.
  std::map<std::string, std::string> external_files() const;
  // metadata_props, as they are written.
  std::vector<std::pair<std::string, std::string>> properties() const;
  // As ImportOnnx. `notes` gets one line, which begins with the path, for each output whose shape
  // the file declares wrongly, for each input of noise, and for normalization in training mode. It
  // may be null.
  absl::StatusOr<Graph> Import(const ImportOptions& options, const Evaluator& evaluate,
                               std::vector<std::string>* notes = nullptr) const;

 private:
  ModelFile(std::shared_ptr<const onnx::ModelProto> model, std::string path)
      : model_(std::move(model)), path_(std::move(path)) {}

  std::shared_ptr<const onnx::ModelProto> model_;
  std::string path_;  // for messages, and for the folder of external data
};

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_MODEL_FILE_H_
