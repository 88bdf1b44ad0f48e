// SPDX-License-Identifier: Apache-2.0
// What the code of a model takes of a microcontroller, from the object that LLVM makes of it.
#ifndef KILN_TOOLS_KILN_CODE_FIGURES_H_
#define KILN_TOOLS_KILN_CODE_FIGURES_H_

#include <optional>

#include "compiler/options/options.h"
#include "compiler/pipeline/compile.h"
#include "tools/kiln/object_report.h"

namespace kiln::tools {

// Nothing where only C can be made for the target, or C is asked for.
std::optional<ObjectFigures> CodeFigures(const Stages& stages, const CompileOptions& options);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_CODE_FIGURES_H_
