// SPDX-License-Identifier: Apache-2.0
// From the body of a group to the Kernel that computes it.
#ifndef KILN_COMPILER_LOWER_KERNEL_H_
#define KILN_COMPILER_LOWER_KERNEL_H_

#include <string>

#include "absl/status/statusor.h"
#include "compiler/graph/graph.h"
#include "compiler/loop/stage.h"
#include "compiler/target/target.h"

namespace kiln {

// Stages of all nodes of `body`, whose inputs and outputs become the kernel's. Every output of
// `body` must be made by a node, and no value be an output twice. Errors name the operator.
absl::StatusOr<loop::Kernel> MakeKernel(std::string name, const Graph& body, const Target& target);

// A single operator as a body: constants go inside.
Graph BodyOfNode(const Graph& graph, const Node& node);

}  // namespace kiln

#endif  // KILN_COMPILER_LOWER_KERNEL_H_
