// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/code_figures.h"

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "compiler/backend/backend.h"

namespace kiln::tools {

std::optional<ObjectFigures> CodeFigures(const Stages& stages, const CompileOptions& options) {
  // LLVM knows others, such as Xtensa, but cannot make code of all that Kiln says for them.
  const std::string& triple = options.target.triple;
  const bool is_known = absl::StartsWith(triple, "thumb") || absl::StartsWith(triple, "arm") ||
                        absl::StartsWith(triple, "riscv");
  if (!is_known || options.codegen != Codegen::kLlvm) return std::nullopt;
  const absl::StatusOr<Artifacts> code = EmitCode(stages.program, options);
  if (!code.ok()) return std::nullopt;
  const absl::StatusOr<ObjectFigures> figures =
      MeasureObject(code->at(options.module_name + ".o"), {});
  return figures.ok() ? std::make_optional(*figures) : std::nullopt;
}

}  // namespace kiln::tools
