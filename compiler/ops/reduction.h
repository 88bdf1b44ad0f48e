// SPDX-License-Identifier: Apache-2.0
// Helpers of operators with the attributes axis, keepdims and exclude.
#ifndef KILN_COMPILER_OPS_REDUCTION_H_
#define KILN_COMPILER_OPS_REDUCTION_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/graph/op_schema.h"
#include "compiler/ops/stage_builder.h"

namespace kiln {

// The attributes axis, keepdims and exclude.
std::vector<AttrSchema> ReductionAttrs();

// Returns `shape` reduced as the attributes say. Axes that do not exist violate `constraint`.
absl::StatusOr<Shape> InferReducedShape(const Attrs& attrs, const Shape& shape, int constraint);

// Extents of the dimensions of input 0 that are reduced.
Shape ReducedExtents(const StageBuilder& b);

// Adds a stage of the output's shape that reduces `map` of input 0. Without
// `map`, reduces its elements.
Access ReduceInput(StageBuilder& b, std::string name, loop::Combine combine,
                   const std::function<Expr(Expr)>& map = nullptr);

// The same for a term of the output's index i, the index `at` into input 0 and the
// index r of the reduction.
Access ReduceInputWith(
    StageBuilder& b, std::string name, loop::Combine combine,
    const std::function<Expr(const Indices& i, const Indices& at, const Indices& r)>& term);

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_REDUCTION_H_
