// SPDX-License-Identifier: Apache-2.0
// Runs one operator in the interpreter, with every stage as a plain loop nest. For tests.
//
//   KILN_ASSIGN_OR_RETURN(std::vector<Tensor> outputs, RunOp(*FindOp("nn.relu"), {}, {x}));
#ifndef KILN_COMPILER_OPS_TESTING_RUN_OP_H_
#define KILN_COMPILER_OPS_TESTING_RUN_OP_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/base/tensor.h"
#include "compiler/ops/op_def.h"

namespace kiln {

// The index that stands for no input.
inline constexpr size_t kNoInput = SIZE_MAX;

// Normalizes the attributes, infers types, lowers and runs. All inputs but `unknown` are constants.
absl::StatusOr<std::vector<Tensor>> RunOp(const OpDef& op, Attrs attrs,
                                          const std::vector<Tensor>& inputs,
                                          size_t unknown = kNoInput);

// The same for given types of the outputs. ResourceExhausted, before running, if a stage computes
// more than `max_steps` terms.
absl::StatusOr<std::vector<Tensor>> RunLowered(const OpDef& op, const Attrs& normalized,
                                               const std::vector<Tensor>& inputs,
                                               const std::vector<TensorType>& output_types,
                                               int64_t max_steps = INT64_MAX,
                                               size_t unknown = kNoInput);

// A tensor of random values: floats between min and max, integers rounded from four times that
// range.
Tensor RandomTensor(const TensorType& type, uint64_t seed, double min = -2, double max = 2);

// The inputs of an example. Inputs without given values are random.
std::vector<Tensor> ExampleInputs(const OpExample& example);

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_TESTING_RUN_OP_H_
