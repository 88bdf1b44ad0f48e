// SPDX-License-Identifier: Apache-2.0
// What the operators with the attributes axis, keepdims and exclude share.
#ifndef KILN_COMPILER_OPS_REDUCTION_H_
#define KILN_COMPILER_OPS_REDUCTION_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/graph/op_schema.h"
#include "compiler/ops/stage_builder.h"

namespace kiln {

// axis, keepdims, exclude.
std::vector<AttrSchema> ReductionAttrs();

// The shape of `shape` reduced as the attributes say; a violation of `constraint` for axes that do
// not exist.
absl::StatusOr<Shape> InferReducedShape(const Attrs& attrs, const Shape& shape, int constraint);

// The extents that the reduction of input 0 runs over.
Shape ReducedExtents(const StageBuilder& b);

// A stage of the output's shape that reduces `map` of input 0.
Access ReduceInput(StageBuilder& b, std::string name, loop::Combine combine,
                   const std::function<Expr(Expr)>& map = nullptr);

// The same over the value of a function of the index into input 0 and of the index of the
// reduction.
Access ReduceInputWith(
    StageBuilder& b, std::string name, loop::Combine combine,
    const std::function<Expr(const Indices& i, const Indices& at, const Indices& r)>& term);

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_REDUCTION_H_
