// SPDX-License-Identifier: Apache-2.0
// Channels-last: data (N, C…, H, W) as (N, H, W, C…), with the channels in one axis or in several,
// and the attributes with which an operator works on it.
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

// The axes of a transpose to channels-last, and of one back. The rank is kMinChannelsRank or more.
std::vector<int64_t> ToChannelsLast(int64_t rank);
std::vector<int64_t> FromChannelsLast(int64_t rank);

// The attributes with which `op`, of `node` in the typed `graph`, computes of channels-last data
// what the node computes of data; nothing if it cannot, or had better not (LayoutRule). Data is
// every input that FollowsData; results of kMinChannelsRank or more are channels-last too, others
// as they were.
std::optional<Attrs> ChannelsLastAttrs(const Graph& graph, const OpDef& op, const Node& node);

// Whether input k of the node is to be channels-last. Inputs of an element-wise operator that have
// a lower rank are extended in front first, so that they broadcast as they did.
bool FollowsData(const Graph& graph, const OpDef& op, const Node& node, size_t k);

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_CHANNELS_LAST_H_
