// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/families.h"

namespace kiln::schedule {

Stmt NaiveSchedule(const loop::Kernel& kernel, Context& context) {
  std::vector<Stmt> stmts;
  for (const Stage& stage : kernel.stages) {
    if (stage.buffer->scope == loop::BufferScope::kWorkspace && !stage.update) {
      context.workspace.push_back(stage.buffer);
    }
    if (stage.rank_axis.has_value()) {
      stmts.push_back(loop::PlainRankLoops(stage));
      continue;
    }
    if (stage.reduce.empty() && stage.combine == loop::Combine::kNone) {
      stmts.push_back(Nest(stage.axes, ForKind::kSerial, loop::StoreOf(stage)));
      continue;
    }
    const Expr accumulator = loop::MakeLoad(stage.buffer, stage.index);
    const Stmt init = loop::MakeStore(stage.buffer, stage.index, stage.init);
    const Stmt update = loop::MakeStore(
        stage.buffer, stage.index, loop::CombineExprs(stage.combine, accumulator, stage.value));
    stmts.push_back(Nest(stage.axes, ForKind::kSerial,
                         loop::MakeBlock({init, Nest(stage.reduce, ForKind::kSerial, update)})));
  }
  context.description = "naive";
  return loop::MakeBlock(std::move(stmts));
}

}  // namespace kiln::schedule
