// SPDX-License-Identifier: Apache-2.0
// For tests of code generators: a function for each operation of expr.h on elements, each dtype, and each
// conversion.
//
//   for (const ElementOperation& operation : EveryOperation(Widths::kAll)) …
#ifndef KILN_COMPILER_LOOP_TESTING_EVERY_OPERATION_H_
#define KILN_COMPILER_LOOP_TESTING_EVERY_OPERATION_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/base/dtype.h"
#include "compiler/loop/loop.h"

namespace kiln::loop {

struct ElementOperation {
  std::string name;  // "add", "compare_0"; "cast" for conversions
  DType from;        // of both operands
  DType to;          // of the result
  // Its parameters are the two operands and the result, with kOperationElements elements each. It is
  // called "<name>_<from>", or "cast_<from>_<to>".
  Func func;
};

// Vectors of 1 to 16 lanes take 136 elements.
inline constexpr int kMaxLanes = 16;
inline constexpr int64_t kElementsOfWidths = kMaxLanes * (kMaxLanes + 1) / 2;
inline constexpr int64_t kOperationElements = 4 * kElementsOfWidths;

enum class Widths {
  kOne,  // element by element
  kAll,  // vectors of 1, 2, 3, … 16 lanes one after the other, over and over
};

// All operations. Fused multiply-adds of float64 are left out: few targets have them.
std::vector<ElementOperation> EveryOperation(Widths widths);

// The values of an operand, 0 or 1, as bytes: those at the edges of all types. NaN is one of them for
// conversions to integers.
std::string OperandValues(const ElementOperation& operation, size_t operand);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_TESTING_EVERY_OPERATION_H_
