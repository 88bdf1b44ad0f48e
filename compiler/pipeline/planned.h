// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_COMPILER_PIPELINE_PLANNED_H_
#define KILN_COMPILER_PIPELINE_PLANNED_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/graph/graph.h"
#include "compiler/loop/loop.h"
#include "compiler/options/options.h"
#include "compiler/pipeline/graph_forms.h"
#include "compiler/pipeline/ports.h"
#include "compiler/plan/plan.h"
#include "compiler/target/target.h"
#include "compiler/variants/variants.h"

namespace kiln {

// A graph with its operator functions and the plan of their calls and memory.
struct Planned {
  Graph graph;  // the form that was chosen
  LoweredVariants variants;
  Plan plan;
  int64_t strips_save_bytes = 0;  // of the workspace, compared with the whole graph

  loop::LoopProgram& program() { return variants.common.program; }
  const loop::LoopProgram& program() const { return variants.common.program; }
};

// Lowers and plans the forms of the graph and returns the one with the smallest plan. Strips of
// rows have to save a quarter of the workspace with --optimize speed or balanced and one byte with
// ram; with size they are taken only if the whole graph does not fit the pools. The program has the
// functions that the plan calls to copy states. ResourceExhausted if no form fits the pools.
absl::StatusOr<Planned> SmallestPlan(const GraphForms& forms, const std::vector<Target>& targets,
                                     const Ports& ports, const CompileOptions& options);

}  // namespace kiln

#endif  // KILN_COMPILER_PIPELINE_PLANNED_H_
