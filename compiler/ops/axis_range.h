// SPDX-License-Identifier: Apache-2.0
// AxisRange: the part of its data that a node copies unchanged.
#ifndef KILN_COMPILER_OPS_AXIS_RANGE_H_
#define KILN_COMPILER_OPS_AXIS_RANGE_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "compiler/graph/graph.h"

namespace kiln {

// The places begin <= i < end of one axis, in order, and all places of the other axes.
struct AxisRange {
  size_t axis = 0;
  int64_t begin = 0, end = 0;
};

// Returns the range for a node of a typed graph with one input, of any operator. Nothing if the
// output is not such a part of the input, or is all of it.
std::optional<AxisRange> RangeOf(const Graph& graph, const Node& node);

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_AXIS_RANGE_H_
