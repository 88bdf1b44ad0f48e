// SPDX-License-Identifier: Apache-2.0
// AxisRange: what a node takes that gives a part of its data as it is.
#ifndef KILN_COMPILER_OPS_AXIS_RANGE_H_
#define KILN_COMPILER_OPS_AXIS_RANGE_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "compiler/graph/graph.h"

namespace kiln {

// The places begin <= i < end of one axis, in order, and all of the others.
struct AxisRange {
  size_t axis = 0;
  int64_t begin = 0, end = 0;
};

// Of a node of a typed graph with one input, whatever operator it is; nothing if its output is not
// such a part of the input, or all of it.
std::optional<AxisRange> RangeOf(const Graph& graph, const Node& node);

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_AXIS_RANGE_H_
