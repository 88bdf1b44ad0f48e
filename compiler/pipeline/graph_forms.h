// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_COMPILER_PIPELINE_GRAPH_FORMS_H_
#define KILN_COMPILER_PIPELINE_GRAPH_FORMS_H_

#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "compiler/graph/graph.h"
#include "compiler/passes/pass.h"

namespace kiln {

// The forms of one fused graph that compute the same: as a whole, and with neighboring operators
// computed by strips of rows, which takes more code and less memory.
class GraphForms {
 public:
  GraphForms(Graph whole, PassContext context, PassOptions options)
      : whole_(std::move(whole)), context_(std::move(context)), options_(std::move(options)) {}

  const Graph& whole() const { return whole_; }
  // The graph by strips, chosen for the least memory if `for_ram` and for speed otherwise; nullopt
  // if the pass is switched off or changes nothing.
  absl::StatusOr<std::optional<Graph>> ByStrips(bool for_ram) const;

 private:
  Graph whole_;
  PassContext context_;
  PassOptions options_;
};

}  // namespace kiln

#endif  // KILN_COMPILER_PIPELINE_GRAPH_FORMS_H_
