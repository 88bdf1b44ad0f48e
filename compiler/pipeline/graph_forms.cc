// SPDX-License-Identifier: Apache-2.0
#include "compiler/pipeline/graph_forms.h"

#include "compiler/base/status.h"

namespace kiln {

absl::StatusOr<std::optional<Graph>> GraphForms::ByStrips(bool for_ram) const {
  PassContext context = context_;
  context.for_ram = for_ram;
  KILN_ASSIGN_OR_RETURN(Graph strips, RunStripPasses(whole_, context, options_));
  if (strips.nodes.size() == whole_.nodes.size()) return std::nullopt;
  return strips;
}

}  // namespace kiln
