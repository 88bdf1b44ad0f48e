// SPDX-License-Identifier: Apache-2.0
// CopyOutputs: gives every output of the model memory of its own to write to. An output is copied
// if it is an input or a constant, a view of one, or the same value as another output.
#include <set>

#include "compiler/base/status.h"
#include "compiler/ops/make.h"
#include "compiler/ops/views.h"
#include "compiler/passes/pass.h"

namespace kiln {
absl::StatusOr<Graph> CopyOutputs(const Graph& graph, const PassContext&) {
  Graph copied = graph;
  std::set<ValueId> taken;
  for (ValueId& output : copied.outputs) {
    const ValueId root = Viewed(copied, output);
    if (copied.value(root).kind == ValueKind::kNodeOutput && taken.insert(root).second) continue;
    KILN_ASSIGN_OR_RETURN(output, MakeCopy(copied, output));
  }
  return copied;
}

}  // namespace kiln
