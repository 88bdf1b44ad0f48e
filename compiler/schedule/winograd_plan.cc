// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/winograd_plan.h"

#include <algorithm>

#include "compiler/schedule/winograd_transform.h"

namespace kiln::schedule {
namespace {

bool IsSumOf(const Expr& index, const Axis& a, const Axis& b) {
  const auto* sum = index.As<loop::Binary>();
  if (sum == nullptr || sum->op != loop::BinaryOp::kAdd) return false;
  const auto is = [](const Expr& e, const Axis& axis) { return e.get() == axis.var.get(); };
  return (is(sum->a, a) && is(sum->b, b)) || (is(sum->a, b) && is(sum->b, a));
}

// Returns the cost of reading weights `times` times, in multiply-adds.
double StreamCost(double bytes, int64_t times, const Target& target) {
  const int64_t reads = KeepsWeights(bytes, target) ? 1 : times;
  return bytes * static_cast<double>(reads) / target.machine->winograd.bytes_per_multiply_add;
}

double DirectCost(const WinogradProblem& p, const Target& target) {
  const double products =
      p.direct_products > 0 ? p.direct_products : target.Lanes(DType::Float(32));
  const double weights =
      static_cast<double>(kWinogradTaps * kWinogradTaps * p.channels * p.columns);
  const double sums = static_cast<double>(p.batch * p.height * p.width) * weights / products;
  // Computation and waiting overlap, so only the larger of both counts.
  return std::max(sums / target.machine->winograd.direct_efficiency,
                  StreamCost(p.direct_weight_bytes * weights, p.batch, target));
}

// Returns the multiply-adds that the larger weights have to save at least.
double WorthOf(const WinogradProblem& p, int64_t outputs, const WinogradNumbers& numbers) {
  const int64_t points = WinogradOf(outputs).points() - kWinogradTaps * kWinogradTaps;
  return static_cast<double>(sizeof(float)) * static_cast<double>(points * p.channels * p.columns) /
         numbers.bytes_per_saved_multiply_add;
}

}  // namespace

bool KeepsWeights(double bytes, const Target& target) {
  return bytes <= static_cast<double>(target.l2_bytes);
}

TileProblem ProductProblem(const WinogradProblem& p, int64_t tiles, const Target& target) {
  const DType dtype = DType::Float(32);
  return {.rows = tiles,
          .columns = p.columns,
          .reduce = p.channels,
          .row_stride = (p.channels + target.Lanes(dtype)) * dtype.bytes(),
          .dtype = dtype,
          .cold_columns = true};
}

WinogradDivision DivideWinograd(const WinogradProblem& p, int64_t outputs, int64_t block_rows,
                                const Target& target) {
  const WinogradTransform& w = WinogradOf(outputs);
  const WinogradNumbers& numbers = target.machine->winograd;
  WinogradDivision d{.outputs = outputs,
                     .tile_rows = DivideUp(p.height, outputs),
                     .tile_columns = DivideUp(p.width, outputs),
                     .block_rows = block_rows};
  const TileProblem product = ProductProblem(p, d.block_tiles(), target);
  d.tile = ChooseTile(product, target);
  const double lanes = target.Lanes(DType::Float(32));
  const auto points = static_cast<double>(w.points());
  const auto tiles = static_cast<double>(p.batch * d.blocks() * d.block_tiles());
  const double weights = points * static_cast<double>(p.channels * p.columns);
  const auto blocks = static_cast<double>(p.batch * d.blocks());
  const double products = blocks * points * TileCost(product, d.tile, target) +
                          (blocks - 1) * sizeof(float) * weights * numbers.second_cache_byte_cost;
  const double input = tiles * static_cast<double>(p.channels) / lanes *
                       (static_cast<double>(2 * w.inputs() * CostOf(w.input)) +
                        2 * points * numbers.transform_access_cost);
  const double output = tiles * static_cast<double>(p.columns) / lanes *
                        (static_cast<double>((w.inputs() + outputs) * CostOf(w.output)) +
                         2 * points * numbers.transform_access_cost);
  const int64_t threads = std::min(target.cores, numbers.max_modelled_threads);
  const int64_t shared = d.shares_columns() ? d.column_blocks(p) : p.batch * d.blocks();
  const double idle = static_cast<double>(threads) / static_cast<double>(std::min(threads, shared));
  d.cost = (std::max(products, StreamCost(sizeof(float) * weights, p.batch * d.blocks(), target)) +
            input + output) *
           idle;
  if (d.shares_columns() && threads > 1) {
    // Every thread reads the transformed inputs of the other threads.
    const double bytes = sizeof(float) * tiles * points * static_cast<double>(p.channels);
    d.cost += bytes / numbers.shared_bytes_per_multiply_add;
  }
  return d;
}

std::optional<WinogradProblem> AsWinogradProblem(const Stage& stage, const Context& context) {
  const auto* product = stage.value.As<loop::Binary>();
  if (stage.combine != loop::Combine::kSum || stage.axes.size() != 4 || stage.reduce.size() != 3 ||
      stage.index.size() != 4 || product == nullptr || product->op != loop::BinaryOp::kMul ||
      stage.value.type() != loop::Type::Of(DType::Float(32))) {
    return std::nullopt;
  }
  for (size_t i = 0; i < 4; ++i) {
    if (stage.index[i].get() != stage.axes[i].var.get()) return std::nullopt;
  }
  const auto* x = product->a.As<loop::Load>();
  const auto* y = product->b.As<loop::Load>();
  if (x == nullptr || y == nullptr || x->index.size() != 4) return std::nullopt;
  const std::vector<Axis>& r = stage.reduce;
  const bool reads_alike =
      x->index[0].get() == stage.axes[0].var.get() && IsSumOf(x->index[1], stage.axes[1], r[0]) &&
      IsSumOf(x->index[2], stage.axes[2], r[1]) && x->index[3].get() == r[2].var.get();
  if (!reads_alike || r[0].extent != kWinogradTaps || r[1].extent != kWinogradTaps) {
    return std::nullopt;
  }
  WinogradProblem p{.x = x, .weights = y->buffer, .weights_form = {}};
  if (FindConstant(context, p.weights) == nullptr) return std::nullopt;
  const std::optional<loop::LinearForm> form =
      FactorForm(product->b, {r[0], r[1], r[2], stage.axes[3]});
  int64_t base;
  if (!form.has_value() || !loop::AsInt(form->base, &base)) return std::nullopt;
  p.weights_form = *form;
  p.batch = stage.axes[0].extent;
  p.height = stage.axes[1].extent;
  p.width = stage.axes[2].extent;
  p.columns = stage.axes[3].extent;
  p.channels = r[2].extent;
  const int64_t least = context.target.machine->winograd.min_channels;
  if (p.channels < least || p.columns < least) return std::nullopt;
  return p;
}

std::vector<WinogradDivision> RankWinogradDivisions(const WinogradProblem& p,
                                                    const Target& target) {
  const int64_t most = target.machine->winograd.max_block_tiles;
  std::vector<WinogradDivision> divisions;
  for (int64_t outputs : {2, 4}) {
    const int64_t rows = DivideUp(p.height, outputs), columns = DivideUp(p.width, outputs);
    for (int64_t parts = 1; parts <= rows; ++parts) {
      const int64_t block_rows = DivideUp(rows, parts);
      if (block_rows > 1 && block_rows * columns > most) continue;
      divisions.push_back(DivideWinograd(p, outputs, block_rows, target));
    }
  }
  std::stable_sort(
      divisions.begin(), divisions.end(),
      [](const WinogradDivision& a, const WinogradDivision& b) { return a.cost < b.cost; });
  return divisions;
}

std::optional<WinogradDivision> ChooseWinogradDivision(const WinogradProblem& p,
                                                       const Target& target) {
  const double direct = DirectCost(p, target);
  if (direct < target.machine->winograd.min_direct_cost) return std::nullopt;
  const std::vector<WinogradDivision> divisions = RankWinogradDivisions(p, target);
  if (divisions.empty()) return std::nullopt;
  const WinogradDivision& best = divisions.front();
  if (best.cost + WorthOf(p, best.outputs, target.machine->winograd) >= direct) return std::nullopt;
  return best;
}

}  // namespace kiln::schedule
