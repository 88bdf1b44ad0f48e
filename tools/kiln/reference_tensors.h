// SPDX-License-Identifier: Apache-2.0
// What `kiln compare` compares with: tensors of another model, of ONNX Runtime, of files, or of the
// same model compiled with other options or run on a board.
#ifndef KILN_TOOLS_KILN_REFERENCE_TENSORS_H_
#define KILN_TOOLS_KILN_REFERENCE_TENSORS_H_

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/compare/comparison.h"
#include "tools/compare/named_values.h"
#include "tools/kiln/model_options.h"

namespace kiln::tools {

struct ReferenceFlags {
  std::string against;  // a model, a folder, onnxruntime, onnxruntime:MODEL, board:TARGET; empty:
                        // the same model
  std::string options;  // of the compilation of the reference, as on the command line
  std::string python = "python3";
};
void AddReferenceOptions(CLI::App& command, ReferenceFlags& flags);

struct ReferenceTensors {
  std::string name;  // what it is, for people
  std::vector<NamedTensor> tensors;
};

// The tensors that `tensors`, which are those of `values` of the model of `model_flags`, are
// compared with, from the same inputs. InvalidArgument where there is no such reference.
absl::StatusOr<ReferenceTensors> ReadReference(const ReferenceFlags& flags,
                                               const ModelFlags& model_flags,
                                               const std::vector<NamedValue>& values,
                                               const std::vector<NamedTensor>& tensors,
                                               const std::vector<NamedTensor>& inputs);

bool IsFolder(const std::string& path);

// The file of a tensor in a folder that --against names; nothing if there is none.
std::optional<std::string> FileOf(const std::string& folder, const std::string& tensor);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_REFERENCE_TENSORS_H_
