// SPDX-License-Identifier: Apache-2.0
// Functions for tests of code generators: one for each operation of expr.h on elements of each
// dtype, and for each conversion.
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
  DType from;        // type of both operands
  DType to;          // type of the result
  // Its parameters are the two operands and the result, with kOperationElements elements each. Its
  // name is "<name>_<from>", or "cast_<from>_<to>".
  Func func;
};

// Vectors of 1 to 16 lanes take 136 elements.
inline constexpr int kMaxLanes = 16;
inline constexpr int64_t kElementsOfWidths = kMaxLanes * (kMaxLanes + 1) / 2;
inline constexpr int64_t kOperationElements = 4 * kElementsOfWidths;

enum class Widths {
  kOne,  // element by element
  kAll,  // vectors of 1, 2, 3, … 16 lanes in turn, repeatedly
};

// Returns all operations, except fused multiply-adds of float64, which few targets have.
std::vector<ElementOperation> EveryOperation(Widths widths);

// Returns the values of operand 0 or 1 as bytes. They are edge cases of all types. NaN is included
// for conversions to integers.
std::string OperandValues(const ElementOperation& operation, size_t operand);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_TESTING_EVERY_OPERATION_H_
