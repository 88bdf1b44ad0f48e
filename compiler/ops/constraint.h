// SPDX-License-Identifier: Apache-2.0
// Checking the numbered constraints of an operator (OpDef::constraints) in its `infer`.
//
//   KILN_CONSTRAINT(2, channels % groups == 0, StrCat("groups ", groups),
//                   StrCat("a divisor of ", channels));
//   return OutputTypes({{shape, dtype}});
//
// A broken constraint returns InvalidArgument:
//   "constraint 2: found groups 3, wanted a divisor of 8"
#ifndef KILN_COMPILER_OPS_CONSTRAINT_H_
#define KILN_COMPILER_OPS_CONSTRAINT_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "compiler/base/status.h"
#include "compiler/ops/op_def.h"

namespace kiln {

absl::Status Violation(int constraint, absl::string_view found, absl::string_view wanted);

// `found` and `wanted` are evaluated only where the condition does not hold.
#define KILN_CONSTRAINT(number, condition, found, wanted)                    \
  do {                                                                       \
    if (!(condition)) return ::kiln::Violation((number), (found), (wanted)); \
  } while (false)

// The result of `infer`; InvalidArgument if a type is beyond limits.h.
InferResult OutputTypes(std::vector<TensorType> types);

// The kinds of elements that operators ask for.
inline bool IsNumeric(DType dtype) { return !dtype.is_bool(); }

// Inference for operators of one output that has the type of input 0. Constraint 1 of the first:
// data holds floats; of the second: data holds numbers; the third takes anything.
InferResult InferFloat(const InferContext& context);
InferResult InferNumeric(const InferContext& context);
InferResult InferAny(const InferContext& context);

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_CONSTRAINT_H_
