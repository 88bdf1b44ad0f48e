// SPDX-License-Identifier: Apache-2.0
// The compiler: from a Graph to Artifacts.
//
//   KILN_ASSIGN_OR_RETURN(Graph graph, ParseRelay(text, "model.relay", FindOpSchema));
//   CompileOptions options{.module_name = "my_mod", .target = *Target::Parse("host")};
//   KILN_ASSIGN_OR_RETURN(Compiled compiled, Compile(std::move(graph), options));
//   compiled.artifacts["my_mod.so"]   // for the C++ runtime
#ifndef KILN_COMPILER_PIPELINE_COMPILE_H_
#define KILN_COMPILER_PIPELINE_COMPILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/base/artifacts.h"
#include "compiler/external/external_module.h"
#include "compiler/graph/graph.h"
#include "compiler/loop/loop.h"
#include "compiler/lower/lower.h"
#include "compiler/options/options.h"
#include "compiler/plan/plan.h"
#include "metadata/metadata.pb.h"

namespace kiln {

// All intermediate results between the graph and the code generators, which --emit prints.
struct Stages {
  Graph fused;
  Lowered lowered;  // operator functions, unpacked
  Plan plan;
  int64_t split_saves_bytes = 0;        // bytes of workspace that strips of rows save
  std::vector<ExternalModule> modules;  // from external code generators
  proto::Metadata metadata;
  std::string device_hooks;   // C that calls the hooks of devices
  std::string graph_json;     // graph executor
  loop::LoopProgram program;  // for a code generator: with the executor, the metadata and the
                              // calling convention
};
absl::StatusOr<Stages> RunStages(Graph graph, const CompileOptions& options);

struct Compiled {
  Stages stages;                        // `fused` is empty, which frees its weights
  std::vector<int64_t> byte_constants;  // ByteConstantsOf the fused graph
  // - <module>.so: C++ runtime with LLVM.
  // - <module>.o: C runtime or system library with LLVM. It also replaces <module>.so if external
  //   code generators make C, which has to be linked with it.
  // - <module>.c: C code generator.
  // - <module>.h and <module>.metadata.json: always.
  // - <module>.graph.json: graph executor.
  // - <module>_model.c: C interface; the model for TVMExecute.
  // - <module>_system_lib.c: system library; registers it.
  // - <module>_<generator>.c: one for every external code generator.
  // - <module>_devices.c: an external code generator is for a device with hooks.
  Artifacts artifacts;
};
absl::StatusOr<Compiled> Compile(Graph graph, const CompileOptions& options);

}  // namespace kiln

#endif  // KILN_COMPILER_PIPELINE_COMPILE_H_
