// SPDX-License-Identifier: Apache-2.0
// Regions: adjacent marks of one generator, merged if the graph allows it.
#ifndef KILN_COMPILER_EXTERNAL_REGIONS_H_
#define KILN_COMPILER_EXTERNAL_REGIONS_H_

#include <vector>

#include "compiler/external/mark.h"
#include "compiler/graph/graph.h"

namespace kiln {

// Returns lists of mark indices, ascending, ordered by their first nodes. Two regions of one
// generator are merged if one reads a value of the other, unless a path also leads from one to the
// other through a third region or node. After such a merge, that third one would have to run both
// before and after the region. So every region is convex, the graph of regions has no cycle, and no
// two regions can be merged.
std::vector<std::vector<int>> MergeMarks(const Graph& graph, const std::vector<Mark>& marks);

}  // namespace kiln

#endif  // KILN_COMPILER_EXTERNAL_REGIONS_H_
