// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_COMPILER_OPS_MERGE_PADDING_H_
#define KILN_COMPILER_OPS_MERGE_PADDING_H_

#include <vector>

#include "absl/status/statusor.h"
#include "compiler/graph/graph.h"

namespace kiln {

// A CanonicalForm (traits.h) of convolutions: of a convolution of nn.pad with the value that the
// convolution counts outside of its data, the convolution with more padding. Exporters write such
// pads for paddings that their format's convolution cannot express.
absl::StatusOr<std::vector<ValueId>> MergePadding(Graph& graph, const Node& node,
                                                  const std::vector<ValueId>& inputs);

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_MERGE_PADDING_H_
