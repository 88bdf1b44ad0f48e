// SPDX-License-Identifier: Apache-2.0
// Lifetimes of the memory of values, and the bytes that they leave for scratch memory of functions.
//
//   const std::map<ValueId, Life> lives = FindLives(graph, slices);
//   lives.at(MemoryOf(graph, slices, value)).last   // the last node that reads it
#ifndef KILN_COMPILER_LOWER_LIVES_H_
#define KILN_COMPILER_LOWER_LIVES_H_

#include <cstddef>
#include <map>
#include <vector>

#include "compiler/graph/graph.h"
#include "compiler/lower/slices.h"
#include "compiler/schedule/tensor_memory.h"

namespace kiln {

// A lifetime, as numbers of nodes.
struct Life {
  size_t first, last;
  bool is_callers = false;  // an input or output of the graph
};

// Returns the value that owns the memory of `value`, which may be a view or a part of it.
ValueId MemoryOf(const Graph& graph, const Slices& slices, ValueId value);

// Lifetimes, keyed by the value that owns the memory. Constants have none. Inputs of the graph are
// alive from the first node on, and outputs to the last node.
std::map<ValueId, Life> FindLives(const Graph& graph, const Slices& slices);

// Returns the memory of tensors while each node runs, by node. Inputs and outputs of the graph
// count during their lifetimes if the workspace holds them, and otherwise at all times.
std::vector<TensorMemory> FindTensorMemory(const Graph& graph, const Slices& slices,
                                           bool workspace_io);

}  // namespace kiln

#endif  // KILN_COMPILER_LOWER_LIVES_H_
