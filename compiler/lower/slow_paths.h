// SPDX-License-Identifier: Apache-2.0
// Slow paths: functions of a model for a microcontroller that a core of its kind computes far
// slower than what it is made for.
//
//   for (const SlowPath& path : FindSlowPaths(lowered, target)) …
#ifndef KILN_COMPILER_LOWER_SLOW_PATHS_H_
#define KILN_COMPILER_LOWER_SLOW_PATHS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/lower/lower.h"
#include "compiler/target/target.h"

namespace kiln {

enum class SlowReason {
  kSoftwareFloat,   // float32 on a machine without a floating-point unit: a call for each operation
  kSoftwareDouble,  // float64 on a machine whose floating-point unit has none
  kSingleProducts,  // products of narrow integers one by one, on a machine that multiplies several
};

struct SlowPath {
  std::string function;  // of the program
  std::string op_names;  // "nn.conv2d nn.bias_add", as of a Call
  std::string source;    // names of the model's nodes, as of a Call; may be empty
  SlowReason reason;     // the worst one
  int64_t operations;    // about as many as the function takes
};

// In the order of the calls, each function once; none on a machine with an operating system.
std::vector<SlowPath> FindSlowPaths(const Lowered& lowered, const Target& target);

// "float32 without a floating-point unit: every operation is a call".
const char* TextOf(SlowReason reason);

}  // namespace kiln

#endif  // KILN_COMPILER_LOWER_SLOW_PATHS_H_
