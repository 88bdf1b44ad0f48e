// SPDX-License-Identifier: Apache-2.0
// Flash, RAM and stack of a model's code on a microcontroller, measured on an object.
#ifndef KILN_TOOLS_KILN_CODE_FIGURES_H_
#define KILN_TOOLS_KILN_CODE_FIGURES_H_

#include <optional>

#include "absl/status/statusor.h"
#include "compiler/graph/graph.h"
#include "compiler/options/options.h"
#include "compiler/pipeline/compile.h"
#include "tools/kiln/object_report.h"

namespace kiln::tools {

// Returns the figures of LLVM's object. Empty if only C can be generated for the target, or if
// `options` select C.
std::optional<ObjectFigures> CodeFigures(const Compilation& compilation,
                                         const CompileOptions& options);

// Returns the figures of the object that the cross compiler of the target's board makes of the
// model's C. NotFound for a target without a board. InvalidArgument if the compiler is not
// installed.
absl::StatusOr<ObjectFigures> CompiledFigures(const Compilation& compilation,
                                              const CompileOptions& options);

// Returns the figures of LLVM's object for options that select C, as an estimate of a C compiler's
// object. Empty if LLVM is not built in, or cannot compile for the target.
std::optional<ObjectFigures> EstimatedFigures(const Graph& graph, CompileOptions options);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_CODE_FIGURES_H_
