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

// Returns the text of a stage: graph, after:<pass>, fused, stages, plans (of schedules), loops,
// scheduled, plan (of memory), c, llvm, asm, graph-json, metadata, header or external. <pass> is a
// graph pass or a loop pass. InvalidArgument, with the known names, for any other stage.
absl::StatusOr<std::string> EmitStage(const Graph& graph, const CompileOptions& options,
                                      absl::string_view stage);

}  // namespace kiln

#endif  // KILN_COMPILER_PIPELINE_EMIT_STAGE_H_
