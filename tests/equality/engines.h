// SPDX-License-Identifier: Apache-2.0
// Runs many graphs on every engine and compares: the loop interpreter, generated C through a C
// compiler, and LLVM's JIT. On the same LoopProgram all three must give the same bits.
#ifndef KILN_TESTS_EQUALITY_ENGINES_H_
#define KILN_TESTS_EQUALITY_ENGINES_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/graph/graph.h"
#include "compiler/schedule/tuning.h"
#include "compiler/target/target.h"

namespace kiln::equality {

struct Case {
  std::string name;
  Graph graph;
  std::vector<Tensor> inputs;
};

struct EngineOptions {
  Target target;
  bool naive = false;  // plain loops instead of schedules, concatenations by copies
  bool place_concatenations = true;
  bool fuse = true;
  bool passes = true;  // false: the graph is lowered as it is
  bool interpret_only = false;
  bool bfloat16_products = false;
  bool overlap = false;  // outputs may share memory with inputs, as in firmware
  std::shared_ptr<const Tuning> tuning = nullptr;
};

// The outputs of one case.
using Outputs = std::vector<Tensor>;

// Runs all cases on the interpreter, C and LLVM. Fails the current test, with the name of the case,
// for every difference and every error. If this machine cannot run code for the target, LLVM's
// object is made but not run, and the C code is compiled for this machine. Returns the
// interpreter's outputs, empty for cases that failed.
std::vector<Outputs> RunOnAllEngines(const std::vector<Case>& cases, const EngineOptions& options);

// Returns "" or the first difference. Floats may differ by `tolerance`, absolute and relative. All
// other values must be equal.
std::string Difference(const Outputs& a, const Outputs& b, double tolerance);

// Returns random values by the seed: floats between `min` and `max`, integers between 4 * `min` and
// 4 * `max`, unsigned integers between 0 and 4 * `max`.
Tensor RandomValues(const TensorType& type, uint32_t seed, double min, double max);

}  // namespace kiln::equality

#endif  // KILN_TESTS_EQUALITY_ENGINES_H_
