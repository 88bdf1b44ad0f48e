// SPDX-License-Identifier: Apache-2.0
// EmitStage: any stage of a compilation as text, for --emit, golden tests and bug reports.
//
//   KILN_ASSIGN_OR_RETURN(std::string text, EmitStage(graph, options, "after:fuse"));
#ifndef KILN_COMPILER_PIPELINE_EMIT_STAGE_H_
#define KILN_COMPILER_PIPELINE_EMIT_STAGE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/graph/graph.h"
#include "compiler/options/options.h"

namespace kiln {

// The text of a stage: graph, after:<pass>, which is one of the graph or of the loops, fused,
// stages, loops, scheduled, plan, c, llvm, asm, graph-json, metadata, header, external.
// InvalidArgument with the known names.
absl::StatusOr<std::string> EmitStage(const Graph& graph, const CompileOptions& options,
                                      absl::string_view stage);

}  // namespace kiln

#endif  // KILN_COMPILER_PIPELINE_EMIT_STAGE_H_
