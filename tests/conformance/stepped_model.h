// SPDX-License-Identifier: Apache-2.0
// A model that is compiled for this machine and run step by step.
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

// The target of most tests: the host, for C without vectors. Most machines that are given C have
// none, and the C compiler would take minutes for the tiles of one that has them.
const char* UsualTarget(Codegen codegen);

class SteppedModel {
 public:
  // What the model keeps from one run to the next, by the names of its inputs; empty at first.
  using State = std::map<std::string, Tensor>;

  // As `kiln compile --codegen … --target …` does it, for a target that this machine runs.
  static absl::StatusOr<SteppedModel> Compile(const std::string& file,
                                              const tools::InputFlags& flags, Codegen codegen,
                                              const std::string& target);

  // The types of the inputs that the caller gives, and the names and types of all outputs.
  const std::vector<TensorType>& inputs() const { return inputs_; }
  const std::vector<std::string>& output_names() const { return output_names_; }
  const std::vector<TensorType>& outputs() const { return outputs_; }

  // `inputs` as inputs() has them.
  absl::StatusOr<std::vector<Tensor>> Run(absl::Span<const Tensor> inputs, State& state) const;

 private:
  explicit SteppedModel(runtime::Model model) : model_(std::move(model)) {}

  runtime::Model model_;
  std::map<std::string, double> initial_state_;
  std::vector<TensorType> inputs_, outputs_;
  std::vector<std::string> output_names_;
};

// Step `step` of an array of steps, whose leading axis is the steps: its values times `scale` plus
// `offset`, in the dtype of `type`. InvalidArgument if it has not so many.
absl::StatusOr<Tensor> Step(const Tensor& steps, int64_t step, const TensorType& type,
                            double scale = 1, double offset = 0);

// How many steps of `type` an array has.
int64_t NumSteps(const Tensor& steps, const TensorType& type);

}  // namespace kiln::conformance

#endif  // KILN_TESTS_CONFORMANCE_STEPPED_MODEL_H_
