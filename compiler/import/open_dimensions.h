// SPDX-License-Identifier: Apache-2.0
// Models that leave dimensions of their inputs open.
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
  std::vector<frontend::ModelPort> inputs = {};  // as the file says them
  std::vector<frontend::ModelPort> outputs = {};
  std::function<absl::StatusOr<Graph>(const frontend::ImportOptions&)> import = {};
  bool is_searched = true;  // whether sizes are tried
};

// Imports a model, once if that succeeds. An open leading dimension of an input, as a rule that of a
// batch, is 1 if `options` do not say its size; a note is added that says how to choose another. If
// others are open, or 1 does not do, the error names options with which the import succeeds: likely
// sizes (likely_sizes.h), or one of a few sizes for all open dimensions, and where none of them does,
// a likely value of a sampling rate besides.
absl::StatusOr<Graph> ImportOpenModel(const OpenModel& model,
                                      const frontend::ImportOptions& options,
                                      std::vector<std::string>& notes);

}  // namespace kiln

#endif  // KILN_COMPILER_IMPORT_OPEN_DIMENSIONS_H_
