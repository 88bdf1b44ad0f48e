// SPDX-License-Identifier: Apache-2.0
// Reads a model file of any supported format.
#ifndef KILN_TOOLS_KILN_LOAD_MODEL_H_
#define KILN_TOOLS_KILN_LOAD_MODEL_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/frontend/common/import_options.h"
#include "compiler/graph/graph.h"
#include "compiler/import/import.h"

namespace kiln::tools {

// Command line options for a model's inputs and outputs.
struct InputFlags {
  std::vector<std::string> shapes;     // --input: "name:1x3x224x224", "name:1x3x224x224:float32"
  std::vector<std::string> dims;       // --dim: "name=128"
  std::vector<std::string> outputs;    // --outputs: names of values or operators
  std::vector<std::string> constants;  // --constant: "name=1,2" or "name=FILE", .npy or .pb
  std::vector<std::string> states;     // --state: "input=output"

  bool empty() const {
    return shapes.empty() && dims.empty() && outputs.empty() && constants.empty() && states.empty();
  }
};

// The path that denotes standard input.
inline constexpr char kStandardInput[] = "-";

// Imports the file with ImportModel (compiler/import). Its notes go to standard error. Errors name
// the file.
absl::StatusOr<Graph> LoadModel(const std::string& path, const InputFlags& flags,
                                ImportFindings* findings = nullptr);

// Returns the import options for an ONNX model. `bytes` were read from `path`. InvalidArgument for
// a model of another format.
absl::StatusOr<frontend::ImportOptions> OnnxImportOptions(const std::string& bytes,
                                                          const std::string& path,
                                                          const InputFlags& flags);

// Returns the paths of files that the options name.
std::vector<std::string> FilesOf(const InputFlags& flags);

// Returns the module name for a model file: the file's name as an identifier, or "model" for
// standard input.
std::string DefaultModuleName(const std::string& path);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_LOAD_MODEL_H_
