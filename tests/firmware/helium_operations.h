// SPDX-License-Identifier: Apache-2.0
// Every operation on vectors of integers that generated C says by Helium's intrinsics, as functions of
// the loop IR.
#ifndef KILN_TESTS_FIRMWARE_HELIUM_OPERATIONS_H_
#define KILN_TESTS_FIRMWARE_HELIUM_OPERATIONS_H_

#include <cstdint>

#include "compiler/loop/loop.h"

namespace kiln {

inline constexpr int64_t kElements = 512;  // of every buffer

// A function for each: its parameters are two operands of one type, and the result, which it computes
// by whole vectors. Fails the test where an operation that must have a spelling has none.
loop::LoopProgram HeliumOperations();

}  // namespace kiln

#endif  // KILN_TESTS_FIRMWARE_HELIUM_OPERATIONS_H_
