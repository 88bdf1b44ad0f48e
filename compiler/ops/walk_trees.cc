// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/walk_trees.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "compiler/loop/math.h"
#include "compiler/ops/order_key.h"

namespace kiln {
namespace {

constexpr int kData = 0;

// Number of samples in a block. A block walks one tree after the other, so that the tree's
// table stays in the cache.
constexpr int64_t kSamplesTogether = 64;
// With fewer samples, each of them walks blocks of trees at once, so that steps do
// not wait for each other.
constexpr int64_t kFewSamples = 8;
// Number of levels from the root that many samples take by comparing with all nodes
// of these levels. There a vector of samples compares with one number; a step has to
// look up a number per sample.
constexpr int kFirstLevels = 3;

// The order in which one sample walks its trees. The trees of a block are adjacent and take a step
// in turn, until the deepest of them is done.
struct TreeBlocks {
  std::vector<int64_t> sorted;  // trees, the shallowest first
  int64_t width;                // trees per block
  std::vector<int64_t> firsts;  // per step of a block: index in `sorted` of its first tree
};

// Splits the sorted trees into blocks of `width` trees.
void SplitIntoBlocks(const std::vector<int64_t>& depths, int64_t width, TreeBlocks& blocks) {
  const auto count = static_cast<int64_t>(depths.size());
  blocks.width = width;
  blocks.firsts.clear();
  for (int64_t first = 0; first < count; first += width) {
    // The last block may share trees with the one before it: a walk at its leaf stays there.
    const int64_t begin = std::min(first, count - width);
    const auto deepest = static_cast<size_t>(blocks.sorted[static_cast<size_t>(begin + width - 1)]);
    blocks.firsts.insert(blocks.firsts.end(), static_cast<size_t>(depths[deepest]), begin);
  }
}

TreeBlocks TreeBlocksOf(const std::vector<int64_t>& depths) {
  TreeBlocks blocks;
  blocks.sorted.resize(depths.size());
  std::iota(blocks.sorted.begin(), blocks.sorted.end(), 0);
  std::stable_sort(blocks.sorted.begin(), blocks.sorted.end(), [&](int64_t a, int64_t b) {
    return depths[static_cast<size_t>(a)] < depths[static_cast<size_t>(b)];
  });
  const auto least = std::accumulate(depths.begin(), depths.end(), int64_t{0});
  constexpr double kMostSteps = 1.15;  // relative to the steps that the trees need
  for (const int64_t width : {16, 8}) {
    if (width > static_cast<int64_t>(depths.size())) continue;
    SplitIntoBlocks(depths, width, blocks);
    const auto steps = static_cast<double>(width) * static_cast<double>(blocks.firsts.size());
    if (steps <= kMostSteps * static_cast<double>(least)) return blocks;
  }
  // Few trees, or trees of many depths: all trees take a step in turn.
  blocks.width = 1;
  blocks.firsts.clear();
  const int64_t deepest = *std::max_element(depths.begin(), depths.end());
  for (int64_t step = 0; step < deepest; ++step) {
    for (size_t place = 0; place < blocks.sorted.size(); ++place) {
      if (depths[static_cast<size_t>(blocks.sorted[place])] > step) {
        blocks.firsts.push_back(static_cast<int64_t>(place));
      }
    }
  }
  return blocks;
}

// Lowers the walk of compact_trees.h.
class CompactWalk {
 public:
  CompactWalk(StageBuilder& b, const CompactTrees& trees)
      : b_(b),
        trees_(trees),
        width_(b.input_shape(kData)[1]),
        samples_(b.output_shape(0)[0]),
        num_trees_(b.output_shape(0)[1]),
        missing_(b.attrs().Bool("missing")),
        key_(OrderKeyType(b.input_dtype(kData))),
        left_(Table("left", trees.left)),
        columns_(Table("columns", trees.columns)),
        keys_(Table("keys", trees.keys)),
        leaves_(Table("leaves", trees.leaves)) {}

  void Lower() {
    if (samples_ < kFewSamples) {
      ByBlocksOfTrees();
    } else {
      ByBlocksOfSamples();
    }
  }

 private:
  Access Table(const char* name, const std::vector<int64_t>& values) {
    return b_.Table(name, Tensor::Narrow({static_cast<int64_t>(values.size())}, values));
  }

  int64_t columns() const { return missing_ ? 2 * width_ : width_; }

  // The key of a sample in a column. NaN is above all numbers in the first `width_` columns, and
  // below all numbers in the others.
  Expr KeyOfData(const Access& data, const Expr& sample, const Expr& column) const {
    if (!missing_) return OrderKey(data({sample, column}));
    const Expr is_second = column >= Expr(width_);
    const Expr x = data({sample, loop::MakeSelect(is_second, column - Expr(width_), column)});
    const Expr key = OrderKey(x);
    return loop::MakeSelect(is_second && loop::IsNan(x), loop::IntConst(key.type(), key_.MinInt()),
                            key);
  }

  // True if the walk at `entry` goes to the second child. `row` gives the keys of a sample by
  // column.
  template <typename Row>
  Expr GoesSecond(const Row& row, const Expr& entry) const {
    return row(loop::ToIndex(columns_({entry}))) > loop::MakeCast(key_, keys_({entry}));
  }
  template <typename Row>
  Expr Step(const Row& row, const Expr& entry) const {
    return loop::MakeCast(kI32, left_({entry})) + loop::MakeCast(kI32, GoesSecond(row, entry));
  }

  // The entry that a walk reaches from `entry` in `levels` steps.
  template <typename Row>
  Expr After(int levels, const Row& row, const Expr& entry) const {
    if (levels == 1) return Step(row, entry);
    const Expr left = loop::ToIndex(left_({entry}));
    return loop::MakeSelect(GoesSecond(row, entry), After(levels - 1, row, left + Expr(1)),
                            After(levels - 1, row, left));
  }

  // Few samples: each walks blocks of trees.
  void ByBlocksOfTrees() {
    const TreeBlocks blocks = TreeBlocksOf(trees_.depths);
    std::vector<int64_t> roots, places(blocks.sorted.size());
    for (const int64_t tree : blocks.sorted) {
      places[static_cast<size_t>(tree)] = static_cast<int64_t>(roots.size());
      roots.push_back(trees_.roots[static_cast<size_t>(tree)]);
    }
    const Access root = Table("roots", roots), place = Table("places", places),
                 first = Table("steps", blocks.firsts);
    const Access rows = b_.Compute(
        "row", {samples_, columns()},
        [&, data = b_.Input(kData)](const Indices& i) { return KeyOfData(data, i[0], i[1]); });
    const auto element = [&](const Indices& point) {
      return Indices{point[0], loop::ToIndex(first({point[1]})) + point[2]};
    };
    const Access reached = Walk(
        {samples_, num_trees_},
        [&](const Indices& i) { return loop::MakeCast(kI32, root({i[1]})); },
        {samples_, static_cast<int64_t>(blocks.firsts.size()), blocks.width}, element,
        [&](const Indices& point, const Access& so_far) {
          const auto row = [&](const Expr& column) { return rows({point[0], column}); };
          return Step(row, loop::ToIndex(so_far(element(point))));
        });
    b_.Output(
        0, [&](const Indices& i) { return Leaf(reached({i[0], loop::ToIndex(place({i[1]}))})); });
  }

  // Many samples: each block of samples walks one tree after the other. Samples are adjacent in
  // memory, so that vectors of them take the first levels.
  void ByBlocksOfSamples() {
    std::vector<int64_t> order;  // the tree of each step
    for (size_t tree = 0; tree < trees_.depths.size(); ++tree) {
      const int64_t steps = std::max<int64_t>(0, trees_.depths[tree] - kFirstLevels);
      order.insert(order.end(), static_cast<size_t>(steps), static_cast<int64_t>(tree));
    }
    const Access root = Table("roots", trees_.roots), tree_of_step = Table("steps", order);
    const Access rows = b_.Compute(
        "row", {columns(), samples_},
        [&, data = b_.Input(kData)](const Indices& i) { return KeyOfData(data, i[1], i[0]); });
    const auto row_of = [&](const Expr& sample) {
      return [&rows, sample](const Expr& column) { return rows({column, sample}); };
    };
    const int64_t together = std::min(samples_, kSamplesTogether);
    const auto element = [&](const Indices& point) {
      // A last block that is not full repeats the last sample: a walk at its leaf stays there.
      const Expr sample = point[0] * Expr(together) + point[2];
      return Indices{loop::ToIndex(tree_of_step({point[1]})),
                     samples_ % together == 0 ? sample : loop::Min(sample, Expr(samples_ - 1))};
    };
    const Access reached = Walk(
        {num_trees_, samples_},
        [&](const Indices& i) {
          return After(kFirstLevels, row_of(i[1]), loop::ToIndex(root({i[0]})));
        },
        {(samples_ + together - 1) / together, static_cast<int64_t>(order.size()), together},
        element,
        [&](const Indices& point, const Access& so_far) {
          const Indices at = element(point);
          return Step(row_of(at[1]), loop::ToIndex(so_far(at)));
        });
    b_.Output(0, [&](const Indices& i) { return Leaf(reached({i[1], i[0]})); });
  }

  // The entries that walks reach: a Recurrence, or only `first` if there are no steps.
  Access Walk(Shape shape, const std::function<Expr(const Indices&)>& first, const Shape& axes,
              const std::function<Indices(const Indices&)>& index,
              const std::function<Expr(const Indices&, const Access&)>& next) {
    if (NumElements(axes) == 0) return b_.Compute("entry", std::move(shape), first);
    return b_.Recurrence("entry", std::move(shape), first, axes, index, next);
  }

  Expr Leaf(const Expr& entry) const {
    return loop::MakeCast(kI32, leaves_({loop::ToIndex(entry)}));
  }

  StageBuilder& b_;
  const CompactTrees& trees_;
  const int64_t width_, samples_, num_trees_;
  const bool missing_;
  const DType key_;
  const Access left_, columns_, keys_, leaves_;
};

}  // namespace

void WalkCompactTrees(StageBuilder& b, const CompactTrees& trees) { CompactWalk(b, trees).Lower(); }

}  // namespace kiln
