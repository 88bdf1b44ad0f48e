// SPDX-License-Identifier: Apache-2.0
#include "compiler/pipeline/ports.h"

#include "compiler/base/status.h"

namespace kiln {

absl::StatusOr<Ports> PortsOf(const Graph& graph, const CompileOptions& options) {
  Ports ports;
  ports.attrs = graph.attrs;
  KILN_ASSIGN_OR_RETURN(ports.states, StatesOf(graph));
  if (ports.states.empty() || options.interface == Interface::kPacked) return ports;
  KILN_RETURN_IF_ERROR(CheckKeepsState(options));
  ports.kept = ports.states;
  return ports;
}

}  // namespace kiln
