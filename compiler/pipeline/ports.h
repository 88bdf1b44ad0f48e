// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_COMPILER_PIPELINE_PORTS_H_
#define KILN_COMPILER_PIPELINE_PORTS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "compiler/graph/graph.h"
#include "compiler/graph/state.h"
#include "compiler/options/options.h"

namespace kiln {

// Facts about the model's inputs and outputs that its callers rely on, beside their types.
struct Ports {
  Attrs attrs;                    // of @main: the quantization of the tensors
  std::vector<StatePair> states;  // pairs of an input and an output that are one tensor over time
  // The states whose memory the module has, so that they are no inputs and outputs of its
  // functions: all of `states` with the C interface, none with packed functions.
  std::vector<StatePair> kept;
};

// InvalidArgument for attributes that StatesOf refuses, and for options that exclude kept states.
absl::StatusOr<Ports> PortsOf(const Graph& graph, const CompileOptions& options);

}  // namespace kiln

#endif  // KILN_COMPILER_PIPELINE_PORTS_H_
