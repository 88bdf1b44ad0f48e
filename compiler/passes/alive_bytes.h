// SPDX-License-Identifier: Apache-2.0
// AliveBytes: an estimate of how many bytes of values are alive at each node of a graph, inputs and
// outputs of the graph among them.
//
//   const AliveBytes alive(graph);
//   alive.At(3);          // while node 3 runs
//   alive.Around(3, 5);   // what it takes outside of them to have nodes 3 to 5 run
#ifndef KILN_COMPILER_PASSES_ALIVE_BYTES_H_
#define KILN_COMPILER_PASSES_ALIVE_BYTES_H_

#include <cstdint>
#include <vector>

#include "compiler/graph/graph.h"

namespace kiln {

class AliveBytes {
 public:
  explicit AliveBytes(const Graph& graph);

  // The result is taken to be written over an input that dies.
  int64_t At(NodeId node) const { return at_[static_cast<size_t>(node)]; }
  // Values that are alive before the first of the nodes or behind the last.
  int64_t Around(NodeId first, NodeId last) const;

 private:
  // From the node that makes a value, views of it included, to the last one that reads it.
  struct Life {
    NodeId first, last;
    int64_t bytes;
  };

  std::vector<Life> lives_;
  std::vector<int64_t> at_;
};

}  // namespace kiln

#endif  // KILN_COMPILER_PASSES_ALIVE_BYTES_H_
