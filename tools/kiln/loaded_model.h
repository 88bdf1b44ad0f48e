// SPDX-License-Identifier: Apache-2.0
// A graph that is compiled for this machine and loaded into this process.
#ifndef KILN_TOOLS_KILN_LOADED_MODEL_H_
#define KILN_TOOLS_KILN_LOADED_MODEL_H_

#include "absl/status/statusor.h"
#include "compiler/lower/lower.h"
#include "compiler/options/options.h"
#include "tools/kiln/library.h"

namespace kiln::tools {

class LoadedModel {
 public:
  // `options` must be for the C++ runtime.
  static absl::StatusOr<LoadedModel> Make(Graph graph, const CompileOptions& options);

  const Library& library() const { return library_; }
  const Lowered& lowered() const { return lowered_; }

 private:
  Library library_;
  Lowered lowered_;
};

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_LOADED_MODEL_H_
