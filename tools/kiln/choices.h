// SPDX-License-Identifier: Apache-2.0
// What each value of --optimize makes of a model for a microcontroller, side by side:
// `kiln inspect model.onnx --target cortex-m4f --choices`.
#ifndef KILN_TOOLS_KILN_CHOICES_H_
#define KILN_TOOLS_KILN_CHOICES_H_

#include <string>

#include "absl/status/statusor.h"
#include "compiler/graph/graph.h"
#include "compiler/options/options.h"

namespace kiln::tools {

// A row for each value, the smallest RAM first. Flash and stack are those of LLVM's object, or with
// --codegen c those of the object that the cross compiler of the target's board makes. Instructions
// are those of one inference on that board in QEMU; with --workspace-io or --pool the firmware has
// the pools as static memory. A figure that is not known is "-", and a line says why. An error if the
// model compiles with no value. At most `columns` wide if that is not 0.
absl::StatusOr<std::string> ChoicesText(const Graph& graph, const CompileOptions& options,
                                        int columns);

// The same as a JSON object: `choices`, whose unknown figures are null, and `refused`, the values
// with which the model does not compile.
absl::StatusOr<std::string> ChoicesJson(const Graph& graph, const CompileOptions& options);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_CHOICES_H_
