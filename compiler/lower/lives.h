// SPDX-License-Identifier: Apache-2.0
// When the memory of values is alive, and what that leaves to scratch memory of functions.
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

// Numbers of nodes.
struct Life {
  size_t first, last;
  bool is_callers = false;  // an input or output of the graph
};

// The value whose memory holds `value`: that of which it is a view or a part.
ValueId MemoryOf(const Graph& graph, const Slices& slices, ValueId value);

// By the value whose memory it is; of none that is a constant. Inputs of the graph are alive from
// the first node on, outputs to the last one.
std::map<ValueId, Life> FindLives(const Graph& graph, const Slices& slices);

// What tensors take while each node runs, by node. Inputs and outputs of the graph are counted while
// they are alive if the workspace holds them, and otherwise at all times.
std::vector<TensorMemory> FindTensorMemory(const Graph& graph, const Slices& slices,
                                           bool workspace_io);

}  // namespace kiln

#endif  // KILN_COMPILER_LOWER_LIVES_H_
