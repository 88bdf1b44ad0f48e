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

// A row for each value, the smallest RAM first. Instructions are those of one inference on the
// target's board in QEMU; a line says why where they are not known. An error where the model compiles
// with no value. At most `columns` wide if that is not 0.
absl::StatusOr<std::string> ChoicesText(const Graph& graph, const CompileOptions& options,
                                        int columns);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_CHOICES_H_
