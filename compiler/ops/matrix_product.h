// SPDX-License-Identifier: Apache-2.0
// Dtypes, shapes and indices that dense, matrix products and convolutions share.
#ifndef KILN_COMPILER_OPS_MATRIX_PRODUCT_H_
#define KILN_COMPILER_OPS_MATRIX_PRODUCT_H_

#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/op_def.h"
#include "compiler/ops/stage_builder.h"

namespace kiln {

// Returns the dtype of the result: the attribute out_dtype, or the dtype of
// the inputs. Constraints:
// 1. both hold floats, or both hold integers, or, with `takes_byte_weights`, data holds floats and
//    the weight holds int8 or uint8
// 2. their dtypes are equal, or out_dtype is given
// 3. out_dtype is of the same kind and not narrower
absl::StatusOr<DType> ProductType(const InferContext& context, bool takes_byte_weights = false);

// Returns the shape of the product of data (…, k) and weight (units, k),
// inputs 0 and 1. Constraints:
// 4. data has rank 1 or more, weight rank 2
// 5. their last extents are equal
// 6. the attribute units is None or the first extent of weight
absl::StatusOr<Shape> DenseShape(const InferContext& context);

// Returns the broadcast extents in front of the matrices of a and b, which have
// the same rank. Constraint:
// 6. the extents of each pair are equal, or one of them is 1
absl::StatusOr<Shape> BatchShape(const Shape& a, const Shape& b);

// The index at which a matrix product reads an input of `shape`: the batch of the output index `i`
// (0 along an extent of 1), then the row and column of `element`, swapped in a transposed input.
struct MatrixElement {
  Expr row, column;
};
Indices MatrixIndex(const Indices& i, const Shape& shape, const MatrixElement& element,
                    bool transposed);

// Access to input k, widened to the dtype in which output 0 is computed.
using Factor = Access;
Factor WidenedInput(const StageBuilder& b, int k);
// The same for an access to a stage.
Factor Widened(const StageBuilder& b, Access x);

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_MATRIX_PRODUCT_H_
