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

// The values that the pipeline makes of a graph, up to the program for a code generator. The stages
// of --emit print them.
struct Compilation {
  Graph fused;      // in the form that was planned
  Lowered lowered;  // operator functions, unpacked
  Plan plan;
  int64_t strips_save_bytes = 0;          // of the workspace
  std::vector<ExternalModule> externals;  // made by external code generators
  proto::Metadata metadata;
  std::string device_hooks;   // C source that calls the hooks of devices
  std::string graph_json;     // graph executor
  loop::LoopProgram program;  // the whole module, ready for a code generator
};
absl::StatusOr<Compilation> RunStages(Graph model, const CompileOptions& options);

struct Compiled {
  Compilation compilation;              // without the graph, whose weights the program has
  std::vector<int64_t> byte_constants;  // ByteConstantsOf(fused)
  // <module>.so for the C++ runtime with LLVM, <module>.o for the C runtime or a system library
  // with LLVM, <module>.c with the C back end; <module>_system_lib.c, which registers a system
  // library; <module>_model.c, the model for TVMExecute, with the C interface; <module>.h;
  // <module>.metadata.json; <module>.graph.json for the graph executor; <module>_<generator>.c for
  // every external code generator; <module>_devices.c if one of them is for a device with hooks. If
  // such C is part of a shared object, <module>.o takes the place of <module>.so: both have to be
  // linked.
  Artifacts artifacts;
};
absl::StatusOr<Compiled> Compile(Graph model, const CompileOptions& options);

}  // namespace kiln

#endif  // KILN_COMPILER_PIPELINE_COMPILE_H_
