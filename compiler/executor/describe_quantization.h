// SPDX-License-Identifier: Apache-2.0
// Quantization of the model's inputs and outputs, from the attributes of @main:
//
//   def @main(%x: Tensor[(1, 4), int8], %w: Tensor[(2, 4), float32],
//             input_scales=[[0.5f], []], input_zero_points=[[-3], []],
//             output_scales=[[0.25f, 0.5f]], output_zero_points=[[0, 0]], output_axes=[1])
//
// Each attribute has one list per tensor, in order. It is empty if the tensor is not quantized, and
// has one element for the whole tensor or one per index along the axis. Zero points and axes
// default to 0.
#ifndef KILN_COMPILER_EXECUTOR_DESCRIBE_QUANTIZATION_H_
#define KILN_COMPILER_EXECUTOR_DESCRIBE_QUANTIZATION_H_

#include "absl/status/status.h"
#include "compiler/graph/graph.h"
#include "compiler/plan/plan.h"
#include "metadata/metadata.pb.h"

namespace kiln {

// Sets the quantization of inputs, outputs and states in `metadata`, which must be that of the
// plan. InvalidArgument for malformed attributes, and for attributes that do not fit the tensors.
absl::Status DescribeQuantization(const Attrs& attrs, const Plan& plan, proto::Metadata& metadata);

}  // namespace kiln

#endif  // KILN_COMPILER_EXECUTOR_DESCRIBE_QUANTIZATION_H_
