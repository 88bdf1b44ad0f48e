// SPDX-License-Identifier: Apache-2.0
// For tests of schedules: a product of two matrices.
#ifndef KILN_COMPILER_SCHEDULE_TESTING_PRODUCT_H_
#define KILN_COMPILER_SCHEDULE_TESTING_PRODUCT_H_

#include "compiler/schedule/testing/run_kernel.h"

namespace kiln::schedule {

// Source of the column factor.
enum class Columns {
  kConstant,            // [k, n]
  kConstantTransposed,  // [n, k]: as nn.dense has it
  kInput,
  kInputTransposed,
};

// out[m, n] = sum over k of x[m, k] * y[k, n], with `epilogue` applied to the sums.
Kernel Product(int64_t m, int64_t k, int64_t n, Columns columns, DType dtype = kF32,
               Expr (*epilogue)(Expr) = nullptr);

// An epilogue.
Expr Relu(Expr x);

}  // namespace kiln::schedule

#endif  // KILN_COMPILER_SCHEDULE_TESTING_PRODUCT_H_
