// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_COMPILER_PIPELINE_ASSEMBLE_H_
#define KILN_COMPILER_PIPELINE_ASSEMBLE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/external/external_module.h"
#include "compiler/loop/loop.h"
#include "compiler/options/options.h"
#include "compiler/pipeline/module_interface.h"
#include "compiler/pipeline/planned.h"
#include "metadata/metadata.pb.h"

namespace kiln {

// The module's program, and the texts that belong to it.
struct Assembled {
  // Operator functions, the executor's functions and data, and the choice of a CPU variant.
  loop::LoopProgram program;
  std::string device_hooks;  // C source that calls the hooks of devices; empty without devices
  std::string graph_json;    // graph executor
};

absl::StatusOr<Assembled> Assemble(const Planned& planned, const ModuleInterface& interface,
                                   const proto::Metadata& metadata,
                                   const std::vector<ExternalModule>& modules,
                                   const CompileOptions& options);

}  // namespace kiln

#endif  // KILN_COMPILER_PIPELINE_ASSEMBLE_H_
