// SPDX-License-Identifier: Apache-2.0
// Finds the stages after a contraction that can be computed on its accumulators.
#include <algorithm>

#include "compiler/schedule/register_tile.h"

namespace kiln::schedule {
namespace {

// Returns the index at which a stage loads from `buffer`. Returns nothing if it does not load from
// it, or if its loads have different indices.
std::optional<std::vector<Expr>> ReadIndex(const Stage& stage, const Buffer& buffer) {
  std::optional<std::vector<Expr>> at;
  bool same = true;
  loop::VisitExpr(stage.value, [&](const Expr& e) {
    const auto* load = e.As<loop::Load>();
    if (load == nullptr || load->buffer != buffer) return;
    if (!at.has_value()) at = load->index;
    for (size_t i = 0; i < load->index.size(); ++i) {
      int64_t a, b;
      same &= (*at)[i].get() == load->index[i].get() ||
              (loop::AsInt((*at)[i], &a) && loop::AsInt(load->index[i], &b) && a == b);
    }
  });
  if (!same) return std::nullopt;
  return at;
}

// Returns the dimension of the contraction's buffer that each axis of `consumer` walks. Returns
// nothing if the consumer does not walk the whole buffer exactly once. An axis of extent 1 may be
// read as the constant 0.
std::optional<std::vector<size_t>> WalkedDimensions(const Stage& consumer,
                                                    const std::vector<Expr>& at,
                                                    const Shape& shape) {
  std::vector<size_t> dimension(consumer.axes.size(), at.size());
  std::vector<bool> taken(at.size(), false);
  for (size_t a = 0; a < consumer.axes.size(); ++a) {
    for (size_t d = 0; d < at.size(); ++d) {
      if (at[d].get() == consumer.axes[a].var.get()) {
        dimension[a] = d;
        taken[d] = true;
      }
    }
  }
  for (size_t a = 0; a < consumer.axes.size(); ++a) {
    if (dimension[a] != at.size()) continue;
    for (size_t d = 0; d < at.size() && dimension[a] == at.size(); ++d) {
      if (consumer.axes[a].extent == 1 && shape[d] == 1 && !taken[d]) {
        dimension[a] = d;
        taken[d] = true;
      }
    }
    if (dimension[a] == at.size()) return std::nullopt;
  }
  for (size_t d = 0; d < at.size(); ++d) {
    if (!taken[d] && shape[d] != 1) return std::nullopt;
  }
  return dimension;
}

std::optional<Epilogue> AsEpilogue(const Stage& sums, const Stage& consumer) {
  if (consumer.combine != loop::Combine::kNone) return std::nullopt;
  const auto at = ReadIndex(consumer, sums.buffer);
  if (!at.has_value()) return std::nullopt;
  const auto dimension = WalkedDimensions(consumer, *at, sums.buffer->shape);
  if (!dimension.has_value()) return std::nullopt;
  loop::Substitution to_sums;
  for (size_t a = 0; a < consumer.axes.size(); ++a) {
    to_sums[consumer.axes[a].var.get()] = sums.index[(*dimension)[a]];
  }
  const Expr own = loop::MakeLoad(sums.buffer, sums.index);
  Epilogue epilogue{.buffer = consumer.buffer, .index = {}, .value = {}};
  epilogue.value = loop::Substitute(
      ReplaceLoads(consumer.value, sums.buffer, [&](const std::vector<Expr>&) { return own; }),
      to_sums);
  for (const Expr& index : consumer.index) {
    epilogue.index.push_back(loop::Substitute(index, to_sums));
  }
  return epilogue;
}

}  // namespace

bool CollectEpilogues(const loop::Kernel& kernel, size_t which, std::vector<Epilogue>* epilogues) {
  const Stage& sums = kernel.stages[which];
  if (IsOutput(kernel, sums.buffer)) {
    epilogues->push_back({sums.buffer, sums.index, loop::MakeLoad(sums.buffer, sums.index)});
  }
  for (size_t i = which + 1; i < kernel.stages.size(); ++i) {
    std::optional<Epilogue> epilogue = AsEpilogue(sums, kernel.stages[i]);
    if (!epilogue.has_value() || !IsOutput(kernel, kernel.stages[i].buffer)) return false;
    epilogues->push_back(*std::move(epilogue));
  }
  return true;
}

bool IsOutput(const loop::Kernel& kernel, const Buffer& buffer) {
  return std::find(kernel.outputs.begin(), kernel.outputs.end(), buffer) != kernel.outputs.end();
}

bool IsReadByAlone(const loop::Kernel& kernel, size_t which, const Buffer& buffer) {
  for (size_t i = 0; i < kernel.stages.size(); ++i) {
    if (i != which && Reads(kernel.stages[i], buffer)) return false;
  }
  return !IsOutput(kernel, buffer);
}

}  // namespace kiln::schedule
