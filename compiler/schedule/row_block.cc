// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/row_block.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/schedule/contraction_choice.h"
#include "compiler/schedule/contraction_facts.h"
#include "compiler/schedule/register_tile.h"

namespace kiln::schedule {
namespace {

loop::Kernel KernelOf(std::vector<Stage> stages) {
  const Buffer out = stages.back().buffer;
  return {.name = "block",
          .inputs = {},
          .outputs = {out},
          .constants = {},
          .stages = std::move(stages)};
}

// Gives the sums a buffer of their own, because the stage after them may write over the shared one.
// The sums stay in registers.
void KeepSumsApart(loop::Kernel& product) {
  const Buffer shared = product.stages[0].buffer;
  const Buffer own =
      loop::MakeBuffer(shared->name, shared->dtype, shared->shape, loop::BufferScope::kLocal);
  product.stages[0].buffer = own;
  product.stages[1].value =
      ReplaceLoads(product.stages[1].value, shared,
                   [&](const std::vector<Expr>& index) { return loop::MakeLoad(own, index); });
}

// Returns the kernel of a product, stages[begin]. It includes the next stage if this comes before
// `end`, is computed from the sums element by element, and nothing else reads the sums.
loop::Kernel ProductAt(const std::vector<Stage>& stages, size_t begin, size_t end) {
  const Stage& sums = stages[begin];
  const size_t next = begin + 1;
  if (next >= end || stages[next].combine != loop::Combine::kNone ||
      !Reads(stages[next], sums.buffer)) {
    return KernelOf({sums});
  }
  const bool read_later =
      std::any_of(stages.begin() + static_cast<std::ptrdiff_t>(next) + 1, stages.end(),
                  [&](const Stage& later) { return Reads(later, sums.buffer); });
  loop::Kernel both = KernelOf({sums, stages[next]});
  KeepSumsApart(both);
  std::vector<Epilogue> epilogues;
  return !read_later && CollectEpilogues(both, 0, &epilogues) ? both : KernelOf({sums});
}

Stmt ProductNest(const loop::Kernel& product, Contraction contraction, Context& context) {
  ContractionFacts facts(product, 0, std::move(contraction));
  std::optional<TiledContraction> merged = MergeContraction(facts, context);
  if (!merged.has_value()) return ColumnlessNest(product, 0, context);
  std::optional<ContractionProblem> problem = AsContractionProblem(*merged, product, 0, context);
  ContractionChoice choice;
  if (problem.has_value()) {
    problem->winograd.reset();
    choice = ChooseContraction(*problem, context.target);
    context.Note(absl::StrCat("contraction ", problem->text));
  }
  const ContractionPlan plan =
      PlanContraction(*merged, choice, Cost(product.stages[0], context.target), context);
  context.Note(Text(plan));
  return ContractionNest(product, 0, *std::move(merged), plan, context);
}

}  // namespace

Stmt EmitRowBlock(const std::vector<Stage>& stages, bool stores_across, Context& outside,
                  std::string* description) {
  Target one_core = outside.target;
  one_core.cores = 1;
  Context context{.target = one_core,
                  .constants = std::move(outside.constants),
                  .workspace = {},
                  .description = {},
                  .code = outside.code,
                  .plans = std::move(outside.plans)};
  std::vector<Stmt> stmts;
  const size_t along = stores_across ? stages.size() - 1 : stages.size();
  for (size_t i = 0; i < along;) {
    if (std::optional<Contraction> contraction = AsContraction(stages[i], one_core)) {
      const loop::Kernel product = ProductAt(stages, i, along);
      stmts.push_back(ProductNest(product, *std::move(contraction), context));
      absl::StrAppend(description, ", ", context.description);
      i += product.stages.size();
      continue;
    }
    const bool sums = stages[i].combine != loop::Combine::kNone;
    stmts.push_back(sums ? ReductionStage(stages[i], context) : InnerStage(stages[i], context));
    ++i;
  }
  if (stores_across) stmts.push_back(PointwiseNest(stages.back(), context));
  outside.constants = std::move(context.constants);
  outside.plans = std::move(context.plans);
  return loop::MakeBlock(std::move(stmts));
}

}  // namespace kiln::schedule
