// SPDX-License-Identifier: Apache-2.0
// Reads a stage as a contraction that tiles can compute: merged axes, epilogues, and the dot
// products and padding that suit it.
#include <algorithm>

#include "compiler/schedule/contraction_facts.h"
#include "compiler/schedule/dot_product.h"
#include "compiler/schedule/register_tile.h"

namespace kiln::schedule {
namespace {

// Merges the axes of a stage, considering the accesses of its factors and of the epilogues.
void MergeContractionAxes(Stage& stage, std::vector<Epilogue>& epilogues) {
  LoopBody body{.axes = stage.axes, .reduce = stage.reduce, .values = {stage.value}, .stores = {}};
  for (const Epilogue& epilogue : epilogues) {
    body.values.push_back(epilogue.value);
    body.stores.push_back({epilogue.buffer, epilogue.index});
  }
  MergeAxes(body);
  stage.axes = body.axes;
  stage.reduce = body.reduce;
  stage.value = body.values[0];
  for (size_t i = 0; i < epilogues.size(); ++i) {
    epilogues[i].value = body.values[i + 1];
    epilogues[i].index = body.stores[i].index;
  }
}

// Replaces axes of extent 1 by the constant 0. Other axes stay as they are, and indices are not
// flattened.
void DropUnitAxes(Stage& stage, std::vector<Epilogue>& epilogues) {
  loop::Substitution zero;
  const auto drop = [&](std::vector<Axis>& axes) {
    for (const Axis& axis : axes) {
      if (axis.extent == 1) zero[axis.var.get()] = Expr(0);
    }
    std::erase_if(axes, [](const Axis& axis) { return axis.extent == 1; });
  };
  drop(stage.axes);
  drop(stage.reduce);
  stage.value = loop::Substitute(stage.value, zero);
  for (Epilogue& epilogue : epilogues) {
    epilogue.value = loop::Substitute(epilogue.value, zero);
    for (Expr& index : epilogue.index) index = loop::Substitute(index, zero);
  }
}

// True if the padded data have the same innermost axis as the original data.
bool KeepsOrder(const Stage& padding) {
  loop::Bounds bounds;
  AddBounds(padding.axes, bounds);
  const auto* load = padding.value.As<loop::Select>()->if_true.As<loop::Load>();
  return loop::Simplify(load->index.back(), bounds).get() == padding.axes.back().var.get();
}

// Returns the padding that each tile computes for its own rows. Returns nothing if the padding also
// permutes axes, runs are short, and memory is not short. All data are then padded first, which
// makes runs longer. The same is true of matrices: their rows are copied in many pieces, which
// would each need a test for padding.
std::optional<size_t> PaddingOfTiles(ContractionFacts& facts, const DotPlan& dot,
                                     const Target& target) {
  const std::optional<size_t> padding = facts.RowPadding();
  if (!padding.has_value() || dot.of_matrices()) return std::nullopt;
  const bool in_runs = target.short_of_memory || KeepsOrder(facts.kernel().stages[*padding]) ||
                       facts.stage().reduce.back().extent >= target.machine->dots.min_run;
  return in_runs ? padding : std::nullopt;
}

// Returns the contraction with its epilogues. Its axes are merged or, if tiles pad their rows, only
// axes of extent 1 are dropped. Returns nothing if no column axis is left.
std::optional<TiledContraction> WithMergedAxes(const ContractionFacts& facts, bool tiles_pad,
                                               const Target& target) {
  Stage stage = facts.stage();
  TiledContraction t{.sums = stage.buffer, .init = stage.init};
  t.stores_sums = !CollectEpilogues(facts.kernel(), facts.which(), &t.epilogues);
  if (t.stores_sums) {
    t.epilogues = {{stage.buffer, stage.index, loop::MakeLoad(stage.buffer, stage.index)}};
  }
  if (tiles_pad) {
    DropUnitAxes(stage, t.epilogues);
  } else {
    MergeContractionAxes(stage, t.epilogues);
  }
  loop::Bounds bounds;
  AddBounds(stage.axes, bounds);
  const Epilogue& first = t.epilogues.front();
  std::optional<Contraction> c =
      AsContraction(stage, FlatIndex(first.buffer, first.index, bounds), target);
  if (!c.has_value()) return std::nullopt;
  t.c = *std::move(c);
  return t;
}

// Returns `merged` by dot products whose padded rows are stored as the instruction reads them.
// Returns nothing if the stored rows would still have to be copied, or do not fit on the stack.
std::optional<TiledContraction> OfStoredRows(ContractionFacts& facts, TiledContraction merged,
                                             const Context& context) {
  merged.dot = PlanDotProduct(merged.c, RowSource::kStored, context);
  if (!merged.dot.has_value() || merged.dot->panel) return std::nullopt;
  merged.padding = facts.RowPadding();
  const Stage& padding = facts.kernel().stages[*merged.padding];
  if (!StoreRows(merged, padding, context.target)) return std::nullopt;
  return merged;
}

}  // namespace

std::optional<TiledContraction> MergeContraction(ContractionFacts& facts, const Context& context) {
  const bool padded = facts.RowPadding().has_value();
  std::optional<TiledContraction> merged;
  const bool may_store = padded && !context.target.short_of_memory &&
                         facts.Dot(RowSource::kStored, context).has_value();
  if (may_store) {
    merged = WithMergedAxes(facts, /*tiles_pad=*/false, context.target);
    if (!merged.has_value()) return merged;
    if (auto stored = OfStoredRows(facts, *merged, context)) return stored;
  }
  const auto& dot = facts.Dot(padded ? RowSource::kPaddedByTile : RowSource::kData, context);
  const std::optional<size_t> padding =
      dot.has_value() ? PaddingOfTiles(facts, *dot, context.target) : std::nullopt;
  if (!merged.has_value() || padding.has_value()) {
    merged = WithMergedAxes(facts, padding.has_value(), context.target);
  }
  if (!merged.has_value() || !dot.has_value()) return merged;
  merged->padding = padding;
  merged->dot = PlanDotProduct(
      merged->c, padding.has_value() ? RowSource::kPaddedByTile : RowSource::kData, context);
  return merged;
}

}  // namespace kiln::schedule
