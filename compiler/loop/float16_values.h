// SPDX-License-Identifier: Apache-2.0
// Operands for tests of float16 and bfloat16.
#ifndef KILN_COMPILER_LOOP_FLOAT16_VALUES_H_
#define KILN_COMPILER_LOOP_FLOAT16_VALUES_H_

#include <cstdint>
#include <string>

namespace kiln::loop {

// The bytes of every float16.
std::string AllHalves();

// The bytes of float32 values: every float16 with its neighbors, the values around the middle
// between it and the next float16, and random bits. Both signs, subnormals of float32 and NaNs
// occur. The number of values is a multiple of 16.
std::string FloatsAroundHalves();

// The bytes of `count` random bfloat16 values: subnormals, zeros, numbers around 1, and numbers
// around 2^-64, whose products are about as small as a normal float32. If not `finite`, infinities,
// NaNs and arbitrary bits occur too.
std::string BFloats(int64_t count, uint32_t seed, bool finite);
// The bytes of `count` float32 sums to which products of BFloats are added.
std::string SumsOfBFloats(int64_t count, uint32_t seed, bool finite);

// Replaces every NaN among the halves by the same one.
std::string WithOneHalfNan(std::string halves);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_FLOAT16_VALUES_H_
