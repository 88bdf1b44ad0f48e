// SPDX-License-Identifier: Apache-2.0
// Fingerprint: a number that functions have in common whose bodies are equal but for what their
// buffers and variables are called, and others hardly ever; so functions that are alike are found
// without comparing each with each. It is the same in every run.
#ifndef KILN_COMPILER_LOOP_FINGERPRINT_H_
#define KILN_COMPILER_LOOP_FINGERPRINT_H_

#include <cstdint>

#include "compiler/loop/loop.h"

namespace kiln::loop {

// Buffers and variables count by the order in which they occur first, parameters before others,
// and constants by their types alone; without `shapes`, buffers that differ only in these are equal.
uint64_t Fingerprint(const Func& func, bool shapes = true);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_FINGERPRINT_H_
