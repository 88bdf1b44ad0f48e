// SPDX-License-Identifier: Apache-2.0
// Random loop functions for tests of passes. They have nests of every kind of loop over several
// statements, with padded, reshaped and strided accesses, reductions in local buffers, several
// dtypes, and extents that no vector divides.
#ifndef KILN_COMPILER_LOOP_RANDOM_PROGRAM_H_
#define KILN_COMPILER_LOOP_RANDOM_PROGRAM_H_

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/loop/loop.h"

namespace kiln::loop {

// Returns a function that only depends on the seed. Its accesses are in bounds.
Func RandomFunc(uint32_t seed);

// Returns the bytes of every parameter after function `name` has run on inputs made from `seed`. If
// it fails, returns only the error's text.
std::vector<std::string> RunOnRandomInputs(const LoopProgram& program, const std::string& name,
                                           uint32_t seed);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_RANDOM_PROGRAM_H_
