// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/constraint.h"

namespace kiln {

absl::Status Violation(int constraint, absl::string_view found, absl::string_view wanted) {
  return absl::InvalidArgumentError(
      absl::StrCat("constraint ", constraint, ": found ", found, ", wanted ", wanted));
}

InferResult OutputTypes(std::vector<TensorType> types) {
  for (const TensorType& type : types) {
    KILN_RETURN_IF_ERROR(Annotate(CheckTensorType(type), "the result is no tensor: "));
  }
  return types;
}

InferResult InferFloat(const InferContext& context) {
  const DType dtype = context.inputs[0].dtype;
  KILN_CONSTRAINT(1, dtype.is_float(), dtype.ToString(), "floats");
  return OutputTypes({context.inputs[0]});
}

InferResult InferNumeric(const InferContext& context) {
  const DType dtype = context.inputs[0].dtype;
  KILN_CONSTRAINT(1, IsNumeric(dtype), dtype.ToString(), "numbers");
  return OutputTypes({context.inputs[0]});
}

InferResult InferAny(const InferContext& context) { return OutputTypes({context.inputs[0]}); }

}  // namespace kiln
