// SPDX-License-Identifier: Apache-2.0
// Import of models that leave dimensions of their inputs open.
#ifndef KILN_COMPILER_IMPORT_OPEN_DIMENSIONS_H_
#define KILN_COMPILER_IMPORT_OPEN_DIMENSIONS_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/frontend/common/import_options.h"
#include "compiler/graph/graph.h"

namespace kiln {

struct OpenModel {
  std::string path;                              // for messages
  std::vector<frontend::ModelPort> inputs = {};  // as declared in the file
  std::vector<frontend::ModelPort> outputs = {};
  std::function<absl::StatusOr<Graph>(const frontend::ImportOptions&)> import = {};
  bool is_searched = true;  // false: no sizes are tried
};

// Imports a model. Open leading dimensions of inputs, usually the batch, are 1 if `options` do not
// give their size, and a note explains how to choose another. If other dimensions are open or the
// import fails with 1, sizes are tried and the error names options with which the import succeeds.
// The sizes are the likely ones (likely_sizes.h), then one of a few sizes for all open dimensions,
// and then the same again with a likely sampling rate.
absl::StatusOr<Graph> ImportOpenModel(const OpenModel& model,
                                      const frontend::ImportOptions& options,
                                      std::vector<std::string>& notes);

}  // namespace kiln

#endif  // KILN_COMPILER_IMPORT_OPEN_DIMENSIONS_H_
