// SPDX-License-Identifier: Apache-2.0
// What dense, matrix products and convolutions share: the dtype that products are made in.
#ifndef KILN_COMPILER_OPS_MATRIX_PRODUCT_H_
#define KILN_COMPILER_OPS_MATRIX_PRODUCT_H_

#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/op_def.h"
#include "compiler/ops/stage_builder.h"

namespace kiln {

// The dtype of the result: the attribute out_dtype, or the dtype of the inputs. Constraints:
// 1. both hold floats, or both hold integers
// 2. their dtypes are one, or out_dtype is given
// 3. out_dtype is of the same kind and not narrower
absl::StatusOr<DType> ProductType(const InferContext& context);

// The shape of the product of data (…, k) and weight (units, k), inputs 0 and 1. Constraints:
// 4. data has rank 1 or more, weight rank 2
// 5. their last extents are one
// 6. the attribute units is None or the first extent of weight
absl::StatusOr<Shape> DenseShape(const InferContext& context);

// Value of input k, widened to the dtype that output 0 is computed in.
using Factor = Access;
Factor WidenedInput(const StageBuilder& b, int k);
// The same of an access to a stage.
Factor Widened(const StageBuilder& b, Access x);

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_MATRIX_PRODUCT_H_
