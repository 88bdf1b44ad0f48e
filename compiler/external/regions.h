// SPDX-License-Identifier: Apache-2.0
// Regions: marks of one generator that lie side by side, merged as far as the graph allows.
#ifndef KILN_COMPILER_EXTERNAL_REGIONS_H_
#define KILN_COMPILER_EXTERNAL_REGIONS_H_

#include <vector>

#include "compiler/external/mark.h"
#include "compiler/graph/graph.h"

namespace kiln {

// Lists of marks (their numbers, ascending), ordered by their first nodes. Two regions of the same
// generator of which one reads what the other makes are one, unless there is also a way from one to
// the other through something else: merged, what lies on it would have to run both before and after
// them. So every region is convex, the graph of regions has no cycle, and no two can be merged.
std::vector<std::vector<int>> MergeMarks(const Graph& graph, const std::vector<Mark>& marks);

}  // namespace kiln

#endif  // KILN_COMPILER_EXTERNAL_REGIONS_H_
