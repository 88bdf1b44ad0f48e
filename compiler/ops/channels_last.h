// SPDX-License-Identifier: Apache-2.0
// Channels-last: data (N, C…, H, W) as (N, H, W, C…), with one or several axes of channels, and the
// attributes with which an operator computes the same from it.
//
//   ToChannelsLast(4)        // {0, 2, 3, 1}: axes of a transpose
//   ChannelsLastAttrs(graph, *FindOp("nn.softmax"), node)   // axis=1 becomes axis=3
#ifndef KILN_COMPILER_OPS_CHANNELS_LAST_H_
#define KILN_COMPILER_OPS_CHANNELS_LAST_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/graph/graph.h"
#include "compiler/ops/op_def.h"

namespace kiln {

// The lowest rank that has channels, height and width.
inline constexpr int kMinChannelsRank = 4;

// The axes of a transpose to channels-last and of the transpose back. `rank` is
// at least kMinChannelsRank.
std::vector<int64_t> ToChannelsLast(int64_t rank);
std::vector<int64_t> FromChannelsLast(int64_t rank);

// Returns the attributes with which `op`, the operator of `node` in the typed `graph`, computes the
// same from channels-last data. Nothing if it cannot, or if it would be slower (LayoutRule). Every
// input for which FollowsData is true is channels-last. Results of rank kMinChannelsRank or more
// are channels-last too; others are unchanged.
std::optional<Attrs> ChannelsLastAttrs(const Graph& graph, const OpDef& op, const Node& node);

// True if input k of the node must be channels-last. Inputs of an element-wise operator with a
// lower rank are first extended in front, so that they broadcast as before.
bool FollowsData(const Graph& graph, const OpDef& op, const Node& node, size_t k);

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_CHANNELS_LAST_H_
