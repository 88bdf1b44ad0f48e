// SPDX-License-Identifier: Apache-2.0
// Bounds on untrusted input. Readers check them before they allocate memory.
#ifndef KILN_COMPILER_BASE_LIMITS_H_
#define KILN_COMPILER_BASE_LIMITS_H_

#include <cstdint>

namespace kiln {

inline constexpr int64_t kMaxModelFileBytes = int64_t{2} << 30;
inline constexpr int64_t kMaxTensorBytes = int64_t{8} << 30;
inline constexpr int64_t kMaxTensorElements = int64_t{1} << 34;
inline constexpr int kMaxRank = 16;
inline constexpr int kMaxNestingDepth = 256;
inline constexpr int64_t kMaxGraphNodes = 1'000'000;
inline constexpr int64_t kMaxNameBytes = 4096;
// Bounds on the loops and functions of a model, which front ends unroll. kMaxUnrolledSteps:
// iterations of one loop. kMaxUnrolledNodes: nodes of all bodies together. kMaxBodyDepth: nesting
// of bodies. kMaxSequenceLength: tensors in a sequence.
inline constexpr int64_t kMaxUnrolledSteps = 1024;
// Steps of an LSTM, GRU or RNN, which are unrolled too. All steps share their functions, so that
// one step costs only a few calls: some milliseconds and 0.1 MB of compilation.
inline constexpr int64_t kMaxRecurrentSteps = 4096;
inline constexpr int64_t kMaxUnrolledNodes = 100'000;
inline constexpr int kMaxBodyDepth = 32;
inline constexpr int64_t kMaxSequenceLength = 1024;
// Elements of a constant that a front end computes, such as a table of positions, taps or weights.
inline constexpr int64_t kMaxTableElements = int64_t{1} << 24;

}  // namespace kiln

#endif  // KILN_COMPILER_BASE_LIMITS_H_
