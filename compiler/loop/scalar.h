// SPDX-License-Identifier: Apache-2.0
// The arithmetic of the loop IR on values. It is the only definition of the results of operations,
// and both constant folding and the interpreter use it.
//
// A kernel runs one operation on `lanes` values:
//
//   BinaryKernel add = FindBinaryKernel(BinaryOp::kAdd, DType::Float(32));
//   add(1, &a, &b, &out);
#ifndef KILN_COMPILER_LOOP_SCALAR_H_
#define KILN_COMPILER_LOOP_SCALAR_H_

#include <cstdint>

#include "compiler/base/dtype.h"
#include "compiler/loop/expr.h"

namespace kiln::loop {

// One value. float32 uses `f` and float64 uses `d`. All other types use `i`: integers extended to
// 64 bits by their sign, bool as 0 or 1, float16 and bfloat16 as their bits.
union Scalar {
  int64_t i;
  float f;
  double d;
};

using UnaryKernel = void (*)(int lanes, const Scalar* a, Scalar* out);
using BinaryKernel = void (*)(int lanes, const Scalar* a, const Scalar* b, Scalar* out);
using FmaKernel = void (*)(int lanes, const Scalar* a, const Scalar* b, const Scalar* c,
                           Scalar* out);

using DotKernel = void (*)(const DotShape& shape, const Scalar* sum, const Scalar* a,
                           const Scalar* b, Scalar* out);

// Returns null if the operation is not defined on the type.
UnaryKernel FindUnaryKernel(UnaryOp op, DType dtype);
BinaryKernel FindBinaryKernel(BinaryOp op, DType dtype);
BinaryKernel FindCompareKernel(CompareOp op, DType dtype);
FmaKernel FindFmaKernel(DType dtype);
DotKernel FindDotKernel(DType sum);
UnaryKernel FindCastKernel(DType from, DType to);
UnaryKernel FindBitcastKernel(DType from, DType to);

// Convert elements in memory to values and back. Memory need not be aligned.
using ReadKernel = void (*)(int lanes, const char* memory, Scalar* out);
using WriteKernel = void (*)(int lanes, const Scalar* a, char* memory);
ReadKernel FindReadKernel(DType dtype);
WriteKernel FindWriteKernel(DType dtype);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_SCALAR_H_
