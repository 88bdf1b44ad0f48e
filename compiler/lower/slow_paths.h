// SPDX-License-Identifier: Apache-2.0
// Slow paths: functions of a model for a microcontroller whose arithmetic has no fast instructions
// on the core.
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
  kSoftwareFloat,   // float32 without a floating-point unit: each operation is a library call
  kSoftwareDouble,  // float64 on a floating-point unit without double precision
  kSingleProducts,  // single products of narrow integers, on a machine that multiplies several at
                    // once
};

struct SlowPath {
  std::string function;  // name in the program
  std::string op_names;  // as in Call: "nn.conv2d nn.bias_add"
  std::string source;    // names of the model's nodes, as in Call; may be empty
  SlowReason reason;     // the worst reason
  int64_t operations;    // approximate number of operations
};

// Returns slow functions in the order of the calls, each once. Returns none for machines with an
// operating system.
std::vector<SlowPath> FindSlowPaths(const Lowered& lowered, const Target& target);

// "float32 without a floating-point unit, every operation a call".
const char* TextOf(SlowReason reason);

}  // namespace kiln

#endif  // KILN_COMPILER_LOWER_SLOW_PATHS_H_
