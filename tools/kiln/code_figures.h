// SPDX-License-Identifier: Apache-2.0
// What the code of a model takes of a microcontroller, from the object that LLVM makes of it.
#ifndef KILN_TOOLS_KILN_CODE_FIGURES_H_
#define KILN_TOOLS_KILN_CODE_FIGURES_H_

#include <optional>

#include "absl/status/statusor.h"
#include "compiler/graph/graph.h"
#include "compiler/options/options.h"
#include "compiler/pipeline/compile.h"
#include "tools/kiln/object_report.h"

namespace kiln::tools {

// Nothing if only C can be made for the target, or `options` ask for C.
std::optional<ObjectFigures> CodeFigures(const Stages& stages, const CompileOptions& options);

// The figures of the object that the cross compiler of the target's board makes of the model's C.
// NotFound for a target without a board, InvalidArgument if the compiler is not installed.
absl::StatusOr<ObjectFigures> CompiledFigures(const Stages& stages, const CompileOptions& options);

// The figures of LLVM's object for options that ask for C, as an estimate of what a C compiler makes.
// Nothing if LLVM is not built in, or cannot make code for the target.
std::optional<ObjectFigures> EstimatedFigures(const Graph& graph, CompileOptions options);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_CODE_FIGURES_H_
