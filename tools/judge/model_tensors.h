// SPDX-License-Identifier: Apache-2.0
// Tensors of a model, including those between operators, as compiled code computes them.
//
//   KILN_ASSIGN_OR_RETURN(const ModelSource model, ModelSource::Read("model.onnx", {}));
//   KILN_ASSIGN_OR_RETURN(const auto values, model.Kept(options));
//   KILN_ASSIGN_OR_RETURN(const auto tensors, model.Run(values, options, inputs));
#ifndef KILN_TOOLS_JUDGE_MODEL_TENSORS_H_
#define KILN_TOOLS_JUDGE_MODEL_TENSORS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/graph/graph.h"
#include "compiler/options/options.h"
#include "tools/judge/comparison.h"
#include "tools/judge/named_values.h"
#include "tools/judge/quantization.h"
#include "tools/kiln/load_model.h"

namespace kiln::tools {

class ModelSource {
 public:
  static absl::StatusOr<ModelSource> Read(const std::string& path, const InputFlags& flags);

  const std::string& path() const { return path_; }
  const Graph& graph() const { return graph_; }

  // Returns the values that code compiled with these options keeps in memory.
  absl::StatusOr<std::vector<NamedValue>> Kept(const CompileOptions& options) const;

  // Compiles the model with the values as its outputs, and runs it on the machine that OptionsToRun
  // (board_model.h) selects. An integer input may be given as the real numbers that it represents,
  // and vice versa.
  absl::StatusOr<std::vector<NamedTensor>> Run(const std::vector<NamedValue>& values,
                                               const CompileOptions& options,
                                               const std::vector<NamedTensor>& inputs) const;

  // Returns the tensor with the known properties of the value, such as its scale.
  NamedTensor Describe(const NamedValue& value, Tensor tensor) const;
  // Returns the name of the real tensor from which a quantized one is made. Empty for other values.
  std::string RealName(const NamedValue& value) const;
  NamedTensor DescribeInput(const std::string& name, Tensor tensor) const;

 private:
  // Returns one tensor for each input, as the model requires it.
  absl::StatusOr<std::vector<Tensor>> InOrder(const std::vector<NamedTensor>& inputs) const;

  std::string path_;
  Graph graph_;
  TensorScales scales_;
};

}  // namespace kiln::tools

#endif  // KILN_TOOLS_JUDGE_MODEL_TENSORS_H_
