// SPDX-License-Identifier: Apache-2.0
// Lowers graphs for tests, and runs what they become.
#ifndef KILN_COMPILER_LOWER_TESTING_LOWER_MODEL_H_
#define KILN_COMPILER_LOWER_TESTING_LOWER_MODEL_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "compiler/base/tensor.h"
#include "compiler/lower/lower.h"

namespace kiln {

// Lowers and verifies a graph for a target with vectors of 256 bits. Adds a failure to the test and
// returns no functions if that fails.
Lowered LowerGraph(const Graph& graph, const LowerOptions& options = {.module_name = "mod"});

// The same for the Relay text of a model.
Lowered LowerModel(absl::string_view model);

// Runs the calls one by one in the interpreter, and returns the outputs of the graph.
std::vector<Tensor> RunLowered(const Graph& graph, const Lowered& lowered,
                               const std::vector<Tensor>& inputs);

}  // namespace kiln

#endif  // KILN_COMPILER_LOWER_TESTING_LOWER_MODEL_H_
