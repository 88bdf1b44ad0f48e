// SPDX-License-Identifier: Apache-2.0
// Fingerprint: a number that is equal for functions whose bodies differ only in the names of
// buffers and variables, and hardly ever for others. It finds functions that are alike without
// comparing all pairs. It is the same in every run.
#ifndef KILN_COMPILER_LOOP_FINGERPRINT_H_
#define KILN_COMPILER_LOOP_FINGERPRINT_H_

#include <cstdint>

#include "compiler/loop/loop.h"

namespace kiln::loop {

// Buffers and variables are numbered by first occurrence, parameters first. Constants count by
// their types only. Without `shapes`, the shapes of buffers are ignored.
uint64_t Fingerprint(const Func& func, bool shapes = true);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_FINGERPRINT_H_
