// SPDX-License-Identifier: Apache-2.0
// Operands for tests of float16 and of bfloat16.
#ifndef KILN_COMPILER_LOOP_FLOAT16_VALUES_H_
#define KILN_COMPILER_LOOP_FLOAT16_VALUES_H_

#include <cstdint>
#include <string>

namespace kiln::loop {

// The bytes of every float16.
std::string AllHalves();

// The bytes of float32 values: every float16, what lies beside it and around the middle between it
// and the next, with both signs; subnormals of float32 and NaNs among them; and random bits. A
// multiple of 16 values.
std::string FloatsAroundHalves();

// The bytes of `count` bfloat16s, random and extreme: subnormals, zeros, numbers around 1 and around
// 2^-64, whose products are about as small as a normal float32, and if not `finite` infinities, NaNs
// and any others.
std::string BFloats(int64_t count, uint32_t seed, bool finite);
// The bytes of as many float32s to which products of these are added.
std::string SumsOfBFloats(int64_t count, uint32_t seed, bool finite);

// The bytes of halves with one NaN in the place of all.
std::string WithOneHalfNan(std::string halves);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_FLOAT16_VALUES_H_
