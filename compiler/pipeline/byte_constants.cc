// SPDX-License-Identifier: Apache-2.0
#include "compiler/pipeline/byte_constants.h"

#include <algorithm>
#include <set>

namespace kiln {
namespace {

void Add(const Graph& graph, std::vector<int64_t>& sizes) {
  std::set<ValueId> read;
  for (const Node& node : graph.nodes) {
    read.insert(node.inputs.begin(), node.inputs.end());
    if (node.body != nullptr) Add(*node.body, sizes);
  }
  for (const ValueId id : read) {
    if (!graph.is_constant(id)) continue;
    const TensorType& type = graph.value(id).constant.type();
    if (type.dtype.is_integral() && type.dtype.bytes() == 1) sizes.push_back(type.num_elements());
  }
}

}  // namespace

std::vector<int64_t> ByteConstantsOf(const Graph& graph) {
  std::vector<int64_t> sizes;
  Add(graph, sizes);
  std::sort(sizes.begin(), sizes.end());
  return sizes;
}

}  // namespace kiln
