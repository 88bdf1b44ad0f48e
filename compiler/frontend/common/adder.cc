// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/common/adder.h"

#include "compiler/ops/add_op.h"
#include "compiler/ops/make.h"

namespace kiln::frontend {

absl::StatusOr<ValueId> Adder::Op(absl::string_view relay_op, std::vector<ValueId> inputs,
                                  Attrs attrs) {
  return AddOp(graph_, relay_op, std::move(inputs), std::move(attrs), source_);
}

absl::StatusOr<std::vector<ValueId>> Adder::TupleOp(absl::string_view relay_op,
                                                    std::vector<ValueId> inputs, Attrs attrs) {
  return AddOpOutputs(graph_, relay_op, std::move(inputs), std::move(attrs), source_);
}

absl::StatusOr<ValueId> Adder::Reshape(ValueId value, const Shape& shape) {
  if (type(value).shape == shape) return value;
  return MakeReshape(graph_, value, shape, source_);
}

absl::StatusOr<ValueId> Adder::Cast(ValueId value, DType dtype) {
  if (type(value).dtype == dtype) return value;
  return MakeCast(graph_, value, dtype, source_);
}

absl::StatusOr<ValueId> Adder::Transpose(ValueId value, const std::vector<int64_t>& axes) {
  return MakeTranspose(graph_, value, axes, source_);
}

}  // namespace kiln::frontend
