// SPDX-License-Identifier: Apache-2.0
// Element-wise operators of two tensors, with broadcasting.
#ifndef KILN_COMPILER_OPS_BINARY_H_
#define KILN_COMPILER_OPS_BINARY_H_

#include <string>
#include <vector>

#include "compiler/ops/broadcast.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/op_def.h"
#include "compiler/ops/stage_builder.h"

namespace kiln {

// `kValue` is a function or lambda from two Exprs of one dtype to an Expr.
template <auto kValue>
absl::Status LowerBinary(StageBuilder& b) {
  const Access x = Broadcast(b.Input(0), b.input_shape(0));
  const Access y = Broadcast(b.Input(1), b.input_shape(1));
  b.Output(0, [=](const Indices& i) -> Expr { return kValue(x(i), y(i)); });
  return absl::OkStatus();
}

// Dtypes that the two inputs may have, and type inference. `kind` is for the documentation.
struct BinaryDomain {
  const char* kind;
  InferResult (*infer)(const InferContext&);
};
extern const BinaryDomain kNumbers;  // the result has the same dtype
extern const BinaryDomain kIntegers;
extern const BinaryDomain kIntegersOrBool;
extern const BinaryDomain kBool;
extern const BinaryDomain kNumbersToBool;  // comparison: the result is bool
extern const BinaryDomain kAnythingToBool;

// Makes the definition of one operator. Its examples are written by hand.
OpDef BinaryOp(std::string name, std::string doc, const BinaryDomain& domain,
               absl::Status (*lower)(StageBuilder&), std::vector<OpExample> examples,
               Arithmetic arithmetic = Arithmetic::kOther);

// A case with x op y == expected, for vectors of one dtype.
OpExample BinaryCase(DType dtype, const std::vector<double>& x, const std::vector<double>& y,
                     const std::vector<double>& expected, double tolerance = 0);
// The same with a bool result.
OpExample CompareCase(DType dtype, const std::vector<double>& x, const std::vector<double>& y,
                      const std::vector<double>& expected);

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_BINARY_H_
