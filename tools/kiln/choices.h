// SPDX-License-Identifier: Apache-2.0
// Compares the values of --optimize for a model on a microcontroller: `kiln inspect model.onnx
// --target cortex-m4f --choices`.
#ifndef KILN_TOOLS_KILN_CHOICES_H_
#define KILN_TOOLS_KILN_CHOICES_H_

#include <string>

#include "absl/status/statusor.h"
#include "compiler/graph/graph.h"
#include "compiler/options/options.h"

namespace kiln::tools {

// Returns a table with a row for each value, smallest RAM first. Flash and stack are those of the
// object that LLVM makes or, with --codegen c, the cross compiler of the target's board.
// Instructions are those of one inference on that board in QEMU. With --workspace-io or --pool, the
// firmware provides the pools as static memory. An unknown figure is "-", and a line states the
// reason. Error if no value compiles. The table is at most `columns` wide if that is not 0.
absl::StatusOr<std::string> ChoicesText(const Graph& graph, const CompileOptions& options,
                                        int columns);

// Returns the same as a JSON object: `choices`, whose unknown figures are null, and `refused`, the
// values with which the model does not compile.
absl::StatusOr<std::string> ChoicesJson(const Graph& graph, const CompileOptions& options);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_CHOICES_H_
