// SPDX-License-Identifier: Apache-2.0
// Call: one call of the model. Lowering makes them, in order; the plan says where their arguments
// lie (PlanCall); executors print them and the metadata describes them.
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

// Values are those of the fused graph; in the place of one that is a slice of another stands the
// whole, which is then the output of several calls that each write a part.
struct Call {
  std::string function = {};          // empty: a view, outputs[0] is inputs[0] in another shape
  std::vector<ValueId> inputs = {};   // of the model, or outputs of calls before; no constants
  std::vector<ValueId> outputs = {};  // one that is an output of several is made by them in parts
  int64_t workspace_bytes = 0;        // scratch memory that the function takes
  // Pairs (input, output): that output may be written over that input if nothing needs the input
  // afterwards.
  std::vector<std::pair<int, int>> in_place = {};
  std::string op_names = {};  // "nn.conv2d nn.bias_add nn.relu"
  std::string source = {};    // names of the model's nodes: "conv1 relu1"
  std::string schedule = {};  // "contraction 14x2x16 …"; of an external subgraph its generator
  std::optional<loop::Cost> cost = {};  // none of a view, and of an external subgraph with an
                                        // operator that Kiln has no code for
};

}  // namespace kiln

#endif  // KILN_COMPILER_CALL_CALL_H_
