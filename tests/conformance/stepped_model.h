// SPDX-License-Identifier: Apache-2.0
// A model that is compiled for this machine and runs step by step.
//
//   KILN_ASSIGN_OR_RETURN(const SteppedModel model,
//                         SteppedModel::Compile(file, {}, Codegen::kC, UsualTarget(Codegen::kC)));
//   SteppedModel::State state;
//   KILN_ASSIGN_OR_RETURN(const std::vector<Tensor> outputs, model.Run({first}, state));
//   KILN_ASSIGN_OR_RETURN(const std::vector<Tensor> next, model.Run({second}, state));
#ifndef KILN_TESTS_CONFORMANCE_STEPPED_MODEL_H_
#define KILN_TESTS_CONFORMANCE_STEPPED_MODEL_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "compiler/base/tensor.h"
#include "compiler/options/options.h"
#include "compiler/pipeline/compile.h"
#include "runtime_cpp/model.h"
#include "tools/kiln/load_model.h"

namespace kiln::conformance {

// Returns the target of most tests: the host, for C without vectors. Most machines that run
// generated C have no vectors, and the C compiler would take minutes for the tiles of a machine
// with vectors.
const char* UsualTarget(Codegen codegen);

class SteppedModel {
 public:
  // The model's state between runs, by the names of its inputs. Empty before the first run.
  using State = std::map<std::string, Tensor>;

  // Compiles like `kiln compile --codegen … --target …`, for a target that this machine can run.
  static absl::StatusOr<SteppedModel> Compile(const std::string& file,
                                              const tools::InputFlags& flags, Codegen codegen,
                                              const std::string& target);

  // Types of the inputs that the caller passes, and names and types of all outputs.
  const std::vector<TensorType>& inputs() const { return inputs_; }
  const std::vector<std::string>& output_names() const { return output_names_; }
  const std::vector<TensorType>& outputs() const { return outputs_; }

  // Runs one step and updates `state`. `inputs` have the types of inputs().
  absl::StatusOr<std::vector<Tensor>> Run(absl::Span<const Tensor> inputs, State& state) const;

 private:
  explicit SteppedModel(runtime::Model model) : model_(std::move(model)) {}

  runtime::Model model_;
  std::map<std::string, double> initial_state_;
  std::vector<TensorType> inputs_, outputs_;
  std::vector<std::string> output_names_;
};

// Returns step `step` of an array whose first axis is the steps: its values times `scale` plus
// `offset`, in the dtype of `type`. Fails with InvalidArgument if there are fewer steps.
absl::StatusOr<Tensor> Step(const Tensor& steps, int64_t step, const TensorType& type,
                            double scale = 1, double offset = 0);

// Returns the number of steps of `type` in an array.
int64_t NumSteps(const Tensor& steps, const TensorType& type);

}  // namespace kiln::conformance

#endif  // KILN_TESTS_CONFORMANCE_STEPPED_MODEL_H_
