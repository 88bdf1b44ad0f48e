// SPDX-License-Identifier: Apache-2.0
// References of `kiln compare`: tensors of another model, of ONNX Runtime, of files, or of the same
// model with other options or on a board.
#ifndef KILN_TOOLS_JUDGE_REFERENCE_H_
#define KILN_TOOLS_JUDGE_REFERENCE_H_

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/judge/comparison.h"
#include "tools/judge/named_values.h"
#include "tools/kiln/model_options.h"

namespace kiln::tools {

struct ReferenceFlags {
  // A model, a folder, onnxruntime, onnxruntime:MODEL or board:TARGET. Empty: the same model.
  std::string against;
  std::string options;  // compilation options of the reference, as on the command line
  std::string python = "python3";
};
void AddReferenceOptions(CLI::App& command, ReferenceFlags& flags);

struct ReferenceTensors {
  std::string name;  // description for people
  std::vector<NamedTensor> tensors;
};

// Returns the reference tensors for `tensors`, computed from the same inputs. `values` are the
// values of `tensors` in the model of `model_flags`. InvalidArgument if there is no such reference.
absl::StatusOr<ReferenceTensors> ReadReference(const ReferenceFlags& flags,
                                               const ModelFlags& model_flags,
                                               const std::vector<NamedValue>& values,
                                               const std::vector<NamedTensor>& tensors,
                                               const std::vector<NamedTensor>& inputs);

bool IsFolder(const std::string& path);

// Returns the file of a tensor in a folder given by --against; nullopt if there is none.
std::optional<std::string> FileOf(const std::string& folder, const std::string& tensor);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_JUDGE_REFERENCE_H_
