// SPDX-License-Identifier: Apache-2.0
// Strips: how neighbouring nodes are computed a few rows of the last one's output at a time, so
// that the values between them are never in memory as a whole. No row is computed twice: rows that
// the next strip needs again are carried on to it. A strip computes what rows of the strips before
// allow, at most as many rows of each node as any other strip: so the first strips compute fewer rows
// of later nodes, and there may be strips behind the last of the first node.
//
//   const std::optional<Strips> strips = MakeStrips(region, /*rows_per_strip=*/8);
//   strips->at(1)[1].computed   // {7, 15}: the rows of the second node that the second strip computes
#ifndef KILN_COMPILER_PASSES_STRIPS_H_
#define KILN_COMPILER_PASSES_STRIPS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/base/tensor.h"
#include "compiler/graph/graph.h"
#include "compiler/passes/rows.h"

namespace kiln {

// Nodes that lie behind each other in a graph, of which only the last one's output is read by
// others.
struct Region {
  NodeId first = 0, last = 0;
  std::vector<const RowNode*> nodes;  // first to last
  std::vector<ValueId> outputs;       // of the nodes
  // What rows around each output hold, as its readers say; nothing where they do not ask for it.
  std::vector<std::optional<Tensor>> paddings;

  // The number of the node whose output the value is; -1 if it comes from outside.
  int Producer(ValueId value) const;
};

// What a strip does at one node of a region.
struct NodeStrip {
  Rows carried;   // from the strip before, which may be none
  Rows made;      // computed or padding, which may be none
  Rows computed;  // of these

  // What the nodes behind it read: both.
  Rows held() const;
};

// By strip, then by node of the region.
using Strips = std::vector<std::vector<NodeStrip>>;

// Strips of so many rows of the last output, but for the first and the last ones. Nothing if rows
// would be computed of padding alone that is not made.
std::optional<Strips> MakeStrips(const Region& region, int64_t rows_per_strip);

// The most bytes that values of the region take while it is computed by strips, but for the whole
// of what it reads and makes.
int64_t BytesOfStrips(const Graph& graph, const Region& region, const Strips& strips);

// For every node of the region, the nodes whose outputs nothing in it reads later.
std::vector<std::vector<int>> LastReads(const Region& region);

}  // namespace kiln

#endif  // KILN_COMPILER_PASSES_STRIPS_H_
