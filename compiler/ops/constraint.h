// SPDX-License-Identifier: Apache-2.0
// Checks of the numbered constraints of an operator (OpDef::constraints), for its `infer`.
//
//   KILN_CONSTRAINT(2, channels % groups == 0, StrCat("groups ", groups),
//                   StrCat("a divisor of ", channels));
//   return OutputTypes({{shape, dtype}});
//
// A broken constraint returns InvalidArgument:
//   "constraint 2: found groups 3, wanted a divisor of 8"
#ifndef KILN_COMPILER_OPS_CONSTRAINT_H_
#define KILN_COMPILER_OPS_CONSTRAINT_H_

#include <initializer_list>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "compiler/base/status.h"
#include "compiler/ops/op_def.h"

namespace kiln {

absl::Status Violation(int constraint, absl::string_view found, absl::string_view wanted);

// `found` and `wanted` are evaluated only if the condition is false.
#define KILN_CONSTRAINT(number, condition, found, wanted)                    \
  do {                                                                       \
    if (!(condition)) return ::kiln::Violation((number), (found), (wanted)); \
  } while (false)

// Returns the result of `infer`; InvalidArgument if a type exceeds the limits of limits.h.
InferResult OutputTypes(std::vector<TensorType> types);

// True if the list contains the text.
inline bool IsOneOf(absl::string_view text, std::initializer_list<absl::string_view> list) {
  return absl::c_linear_search(list, text);
}

// True for every dtype but bool.
inline bool IsNumeric(DType dtype) { return !dtype.is_bool(); }

// Inference for operators with one output, which has the type of input 0. Constraint
// 1 of InferFloat: data holds floats. Constraint 1 of InferNumeric: data holds
// numbers. InferAny has none.
InferResult InferFloat(const InferContext& context);
InferResult InferNumeric(const InferContext& context);
InferResult InferAny(const InferContext& context);

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_CONSTRAINT_H_
