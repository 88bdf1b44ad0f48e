// SPDX-License-Identifier: Apache-2.0
// MakeKernel: the Kernel that computes the body of a group.
#ifndef KILN_COMPILER_LOWER_KERNEL_H_
#define KILN_COMPILER_LOWER_KERNEL_H_

#include <string>

#include "absl/status/statusor.h"
#include "compiler/graph/graph.h"
#include "compiler/loop/stage.h"
#include "compiler/target/target.h"

namespace kiln {

// Returns the stages of all nodes of `body`. The inputs and outputs of `body` become those of the
// kernel. Outputs that no node makes, and repeated outputs, are copied. Errors name the operator.
absl::StatusOr<loop::Kernel> MakeKernel(std::string name, const Graph& body, const Target& target);

// Returns a body with a single operator, including its constants.
Graph BodyOfNode(const Graph& graph, const Node& node);

}  // namespace kiln

#endif  // KILN_COMPILER_LOWER_KERNEL_H_
