// SPDX-License-Identifier: Apache-2.0
// AliveBytes: an estimate of the bytes of values that are alive at each node of a graph. Inputs and
// outputs of the graph count too.
//
//   const AliveBytes alive(graph);
//   alive.At(3);          // while node 3 runs
//   alive.Around(3, 5);   // before node 3 and after node 5
#ifndef KILN_COMPILER_PASSES_ALIVE_BYTES_H_
#define KILN_COMPILER_PASSES_ALIVE_BYTES_H_

#include <cstdint>
#include <vector>

#include "compiler/graph/graph.h"

namespace kiln {

class AliveBytes {
 public:
  explicit AliveBytes(const Graph& graph);

  // Bytes while the node runs. Its result is assumed to overwrite an input that dies.
  int64_t At(NodeId node) const { return at_[static_cast<size_t>(node)]; }
  // Bytes of values that are alive when the first of the nodes begins, and of values that the
  // nodes make for later ones.
  int64_t Around(NodeId first, NodeId last) const;

 private:
  // A value and its views: from the node that makes it to the last node that reads it.
  struct Life {
    NodeId first, last;
    int64_t bytes;
  };

  std::vector<Life> lives_;
  std::vector<int64_t> at_;
};

}  // namespace kiln

#endif  // KILN_COMPILER_PASSES_ALIVE_BYTES_H_
