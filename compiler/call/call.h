// SPDX-License-Identifier: Apache-2.0
// Call: one function call of the compiled model. Lowering makes the calls, in order; the plan
// places their arguments in memory (PlanCall); executors print them, and the metadata describes
// them.
#ifndef KILN_COMPILER_CALL_CALL_H_
#define KILN_COMPILER_CALL_CALL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/graph/graph.h"
#include "compiler/loop/cost.h"

namespace kiln {

// `inputs` and `outputs` are values of the fused graph. A slice of another value is replaced by
// that whole value, which is then the output of several calls that each write a part of it.
struct Call {
  std::string function = {};          // empty: a view, outputs[0] is inputs[0] with another shape
  std::vector<ValueId> inputs = {};   // model inputs or outputs of earlier calls; no constants
  std::vector<ValueId> outputs = {};  // a value that several calls output is made by them in parts
  int64_t workspace_bytes = 0;        // scratch memory of the function
  // Pairs (input, output) of indices: the function may write that output over that input if nothing
  // needs the input afterwards.
  std::vector<std::pair<int, int>> in_place = {};
  std::string op_names = {};  // "nn.conv2d nn.bias_add nn.relu"
  std::string source = {};    // names of the model's nodes: "conv1 relu1"
  std::string schedule = {};  // "contraction 14x2x16 …"; for an external subgraph, its generator
  std::optional<loop::Cost> cost = {};  // none for a view, and for an external subgraph with an
                                        // operator that Kiln has no code for
};

}  // namespace kiln

#endif  // KILN_COMPILER_CALL_CALL_H_
