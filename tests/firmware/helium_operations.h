// SPDX-License-Identifier: Apache-2.0
// Loop IR functions for every operation on vectors of integers that generated C expresses by
// intrinsics of Helium.
#ifndef KILN_TESTS_FIRMWARE_HELIUM_OPERATIONS_H_
#define KILN_TESTS_FIRMWARE_HELIUM_OPERATIONS_H_

#include <cstdint>

#include "compiler/loop/loop.h"

namespace kiln {

inline constexpr int64_t kElements = 512;  // elements of every buffer

// Returns one function per operation. The parameters are two operands of one type and the result,
// which is computed by whole vectors. Fails the test if a required operation has no spelling in C.
loop::LoopProgram HeliumOperations();

}  // namespace kiln

#endif  // KILN_TESTS_FIRMWARE_HELIUM_OPERATIONS_H_
