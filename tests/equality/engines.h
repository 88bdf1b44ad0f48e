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
  bool naive = false;  // plain loops instead of schedules, concatenations that copy
  bool place_concatenations = true;
  bool fuse = true;
  bool passes = true;  // without, the graph is lowered as it is
  bool interpret_only = false;
  bool bfloat16_products = false;
  bool overlap = false;  // outputs reach into inputs, as in firmware
  std::shared_ptr<const Tuning> tuning = nullptr;
};

// The outputs of one case.
using Outputs = std::vector<Tensor>;

// Runs all cases on the interpreter, C and LLVM; fails the current test for every difference and
// every error, naming the case. What LLVM makes for a target that this machine cannot run is an
// object that nothing runs; the C for it is run here all the same. Returns the interpreter's
// outputs, empty for cases that failed.
std::vector<Outputs> RunOnAllEngines(const std::vector<Case>& cases, const EngineOptions& options);

// A float from `a` and `b` may differ by `tolerance`, absolute and relative; all else must be
// equal. "" or what differs.
std::string Difference(const Outputs& a, const Outputs& b, double tolerance);

// Values for an input by a fixed seed.
Tensor RandomValues(const TensorType& type, uint32_t seed, double min, double max);

}  // namespace kiln::equality

#endif  // KILN_TESTS_EQUALITY_ENGINES_H_
