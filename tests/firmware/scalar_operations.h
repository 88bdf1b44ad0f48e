// SPDX-License-Identifier: Apache-2.0
// Operations on single numbers for which generated C uses instructions of Arm's cores, as functions
// of two operands of kElements elements, like those of helium_operations.h.
#ifndef KILN_TESTS_FIRMWARE_SCALAR_OPERATIONS_H_
#define KILN_TESTS_FIRMWARE_SCALAR_OPERATIONS_H_

#include <vector>

#include "compiler/loop/loop.h"

namespace kiln {

std::vector<loop::Func> ScalarOperations();

}  // namespace kiln

#endif  // KILN_TESTS_FIRMWARE_SCALAR_OPERATIONS_H_
