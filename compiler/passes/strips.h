// SPDX-License-Identifier: Apache-2.0
// Strips: neighboring nodes are computed a few rows of the last one's output at a time, so that the
// values between them are never stored as a whole. No row is computed twice: rows that the next
// strip needs again are carried on to it. A strip computes the rows that earlier rows allow, up to
// a limit per node that is the same for all strips. The first strips therefore compute fewer rows
// of later nodes, and further strips may follow after the last rows of the first node.
//
//   const std::optional<Strips> strips = MakeStrips(region, /*rows_per_strip=*/8);
//   strips->at(1)[1].computed   // {7, 15}: the rows of the second node in the second strip
#ifndef KILN_COMPILER_PASSES_STRIPS_H_
#define KILN_COMPILER_PASSES_STRIPS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/base/tensor.h"
#include "compiler/graph/graph.h"
#include "compiler/passes/rows.h"

namespace kiln {

// Consecutive nodes of a graph. Only the last one's output is read by other nodes.
struct Region {
  NodeId first = 0, last = 0;
  std::vector<const RowNode*> nodes;  // first to last
  std::vector<ValueId> outputs;       // of the nodes
  // The element that rows around each output hold, as its readers assume;
  // nothing if they need none.
  std::vector<std::optional<Tensor>> paddings;

  // The index in `nodes` of the node whose output the value is; -1 if it comes from outside.
  int Producer(ValueId value) const;
};

// Rows of one node of a region in one strip.
struct NodeStrip {
  Rows carried;   // from the strip before; may be none
  Rows made;      // computed or padding; may be none
  Rows computed;  // the computed part of `made`

  // Both together, which later nodes read.
  Rows held() const;
};

// Indexed by strip, then by node of the region.
using Strips = std::vector<std::vector<NodeStrip>>;

// Makes strips of this many rows of the last output; the first and the last ones may have fewer.
// Nothing if rows would be computed only from padding that is not made.
std::optional<Strips> MakeStrips(const Region& region, int64_t rows_per_strip);

// The most bytes that values of the region take while it is computed by strips. The whole values
// that the region reads and makes do not count.
int64_t BytesOfStrips(const Graph& graph, const Region& region, const Strips& strips);

// For every node of the region, the nodes whose outputs it is the last one to read.
std::vector<std::vector<int>> LastReads(const Region& region);

}  // namespace kiln

#endif  // KILN_COMPILER_PASSES_STRIPS_H_
