// SPDX-License-Identifier: Apache-2.0
// Operands for tests of the conversions between float16 and float32.
#ifndef KILN_COMPILER_LOOP_FLOAT16_VALUES_H_
#define KILN_COMPILER_LOOP_FLOAT16_VALUES_H_

#include <string>

namespace kiln::loop {

// The bytes of every float16.
std::string AllHalves();

// The bytes of float32 values: every float16, what lies beside it and around the middle between it
// and the next, with both signs; subnormals of float32 and NaNs among them; and random bits. A
// multiple of 16 values.
std::string FloatsAroundHalves();

// The bytes of halves with one NaN in the place of all.
std::string WithOneHalfNan(std::string halves);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_FLOAT16_VALUES_H_
