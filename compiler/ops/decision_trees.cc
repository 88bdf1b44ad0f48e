// SPDX-License-Identifier: Apache-2.0
// A forest of decision trees as tables. Constant tables become compact ones (walk_trees.h).
// Otherwise all trees take a step in turn, so that the loads of one do not wait for the loads of
// another. A walk that has reached its leaf stays there. If the depth of a tree is known, it
// takes no step beyond it.
#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/loop/math.h"
#include "compiler/ops/compact_trees.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/stage_builder.h"
#include "compiler/ops/walk_trees.h"

namespace kiln {
namespace {

enum { kSamples, kFeatures, kThresholds, kChildren, kRoots };

// Limit on the attribute depth, which no tree needs.
constexpr int64_t kMaxDepth = 1 << 16;

// A table of the steps of trees with different depths is worth its bytes if it
// saves a tenth of the steps.
constexpr double kWorthATable = 0.9;
constexpr int64_t kMaxSteps = 1 << 20;

InferResult InferDecisionTrees(const InferContext& c) {
  const TensorType &data = c.inputs[kSamples], &thresholds = c.inputs[kThresholds];
  KILN_CONSTRAINT(1, data.rank() == 2 && data.shape[1] >= 1 && data.dtype.is_float(),
                  data.ToString(), "floats of shape (samples, features)");
  KILN_CONSTRAINT(
      2, thresholds.rank() == 1 && thresholds.shape[0] >= 1 && thresholds.dtype == data.dtype,
      thresholds.ToString(), "a vector of the dtype of data");
  const int64_t nodes = thresholds.shape[0];
  const TensorType &features = c.inputs[kFeatures], &children = c.inputs[kChildren],
                   &roots = c.inputs[kRoots];
  KILN_CONSTRAINT(
      3, features.shape == Shape({nodes}) && children.shape == Shape({nodes, 2}),
      absl::StrCat(ShapeToString(features.shape), " and ", ShapeToString(children.shape)),
      absl::StrCat("(", nodes, ",) and (", nodes, ", 2)"));
  KILN_CONSTRAINT(4, roots.rank() == 1, roots.ToString(), "a vector");
  for (const TensorType* table : {&features, &children, &roots}) {
    KILN_CONSTRAINT(5, table->dtype.is_int() || table->dtype.is_uint(), table->dtype.ToString(),
                    "integers");
  }
  const int64_t depth = c.attrs.Int("depth");
  KILN_CONSTRAINT(6, depth >= 0 && depth <= kMaxDepth, absl::StrCat("depth ", depth),
                  absl::StrCat("0 to ", kMaxDepth));
  return OutputTypes({{{data.shape[0], roots.shape[0]}, kI32}});
}

// Number of nodes on the longest path from each node to a leaf; `most` if the path has no end.
std::vector<int64_t> DepthsOf(const Tensor& children, int64_t most) {
  const auto nodes = static_cast<size_t>(children.type().shape[0]);
  std::vector<std::vector<size_t>> parents(nodes);
  std::vector<int> open(nodes, 0);  // per node: children whose depth is not known
  for (size_t k = 0; k < 2 * nodes; ++k) {
    const int64_t child = children.AsInt(static_cast<int64_t>(k));
    if (child < 0) continue;
    parents[static_cast<size_t>(child)].push_back(k / 2);
    ++open[k / 2];
  }
  std::vector<int64_t> depths(nodes, 1);
  std::vector<size_t> known;
  for (size_t n = 0; n < nodes; ++n) {
    if (open[n] == 0) known.push_back(n);
  }
  for (size_t i = 0; i < known.size(); ++i) {
    for (const size_t parent : parents[known[i]]) {
      depths[parent] = std::max(depths[parent], depths[known[i]] + 1);
      if (--open[parent] == 0) known.push_back(parent);
    }
  }
  for (size_t n = 0; n < nodes; ++n) {
    if (open[n] > 0) depths[n] = most;
  }
  return depths;
}

// The trees that take a step, ordered by step. A tree of depth d occurs d times.
std::vector<int32_t> StepsOf(const Tensor& children, const Tensor& roots, int64_t depth) {
  const std::vector<int64_t> depths = DepthsOf(children, depth);
  std::vector<int32_t> steps;
  for (int64_t step = 0; step < depth; ++step) {
    for (int64_t tree = 0; tree < roots.type().num_elements(); ++tree) {
      const int64_t root = roots.AsInt(tree);
      if (root >= 0 && depths[static_cast<size_t>(root)] > step) {
        steps.push_back(static_cast<int32_t>(tree));
      }
    }
  }
  return steps;
}

// Indices of trees as a table, in one byte each if that is enough.
Tensor TableOf(const std::vector<int32_t>& trees, int64_t count) {
  const Shape shape = {static_cast<int64_t>(trees.size())};
  if (count > 256) return Tensor::From<int32_t>(shape, kI32, trees);
  const std::vector<uint8_t> bytes(trees.begin(), trees.end());
  return Tensor::From<uint8_t>(shape, DType::UInt(8), bytes);
}

absl::Status LowerDecisionTrees(StageBuilder& b) {
  const int64_t width = b.input_shape(kSamples)[1], nodes = b.input_shape(kFeatures)[0];
  const bool missing = b.attrs().Bool("missing");
  const bool nodes_known =
      b.IsWithin(kChildren, INT32_MIN, nodes - 1) && b.IsWithin(kRoots, INT32_MIN, nodes - 1);
  const bool features_known = b.IsWithin(kFeatures, missing ? -width : 0, width - 1);
  if (nodes_known && features_known && b.constant(kThresholds) != nullptr &&
      NumElements(b.output_shape(0)) > 0) {
    const std::optional<CompactTrees> compact =
        MakeCompactTrees(*b.constant(kFeatures), *b.constant(kThresholds), *b.constant(kChildren),
                         *b.constant(kRoots), width, b.attrs().Int("depth"));
    if (compact.has_value()) {
      WalkCompactTrees(b, *compact);
      return absl::OkStatus();
    }
  }
  const Access data = b.Input(kSamples), features = b.Input(kFeatures),
               thresholds = b.Input(kThresholds), children = b.Input(kChildren),
               roots = b.Input(kRoots);
  const auto as_i32 = [](const Expr& value) { return loop::MakeCast(kI32, value); };
  // The child of `node` for a sample.
  const auto step = [&](const Expr& sample, const Expr& node) {
    Expr at = loop::ToIndex(node);
    if (!nodes_known) at = ClampIndex(at, nodes);
    const Expr feature = as_i32(features({at}));
    const Expr goes_first = feature < I32Const(0);
    Expr which = missing ? loop::MakeSelect(goes_first, I32Const(-1) - feature, feature) : feature;
    which = loop::ToIndex(which);
    if (!features_known) which = ClampIndex(which, width);
    const Expr x = data({sample, which});
    Expr first = x <= thresholds({at});
    if (missing) first = first || (goes_first && loop::IsNan(x));
    return as_i32(children({at, loop::MakeSelect(first, Expr(0), Expr(1))}));
  };
  const int64_t samples = b.output_shape(0)[0], trees = b.output_shape(0)[1];
  const int64_t depth = b.attrs().Int("depth");
  // The element (sample, tree) that takes a step, for each point of the walk.
  Shape axes = {samples, depth, trees};
  std::function<Indices(const Indices&)> element = [](const Indices& point) {
    return Indices{point[0], point[2]};
  };
  if (nodes_known && depth * trees <= kMaxSteps) {
    const std::vector<int32_t> steps = StepsOf(*b.constant(kChildren), *b.constant(kRoots), depth);
    const auto count = static_cast<int64_t>(steps.size());
    if (count < depth * trees * kWorthATable) {
      axes = {samples, count};
      if (count > 0) {
        const Access tree = b.Table("steps", TableOf(steps, trees));
        element = [tree](const Indices& point) {
          return Indices{point[0], loop::ToIndex(tree({point[1]}))};
        };
      }
    }
  }
  const Access reached = b.Recurrence(
      "node", {samples, trees}, [&](const Indices& i) { return as_i32(roots({i[1]})); }, axes,
      element,
      [&](const Indices& point, const Access& so_far) {
        const Indices at = element(point);
        const Expr node = so_far(at);
        return loop::MakeSelect(node < I32Const(0), node, step(at[0], Max(node, I32Const(0))));
      });
  b.Output(0, [&](const Indices& i) { return I32Const(-1) - reached(i); });
  return absl::OkStatus();
}

// The tree x0 <= 1 ? (x1 <= 2 ? leaf 0 : leaf 1) : leaf 2, and a tree that is leaf 3.
const std::vector<Tensor> kTables = {Values(U8({2}), {0, 1}), Values(F32({2}), {1, 2}),
                                     Values({{2, 2}, DType::Int(16)}, {1, -3, -1, -2}),
                                     Values({{2}, DType::Int(16)}, {0, -4})};

OpExample Walk(Tensor data, Tensor features, int64_t depth, bool missing, Tensor expected) {
  return Case({std::move(data), std::move(features), kTables[1], kTables[2], kTables[3]},
              {{"depth", depth}, {"missing", missing}}, {std::move(expected)});
}

const double kNan = std::numeric_limits<double>::quiet_NaN();

const OpDef kDecisionTrees = {
    {.name = "decision_trees",
     .doc = "The number of the leaf that each sample reaches in each tree. A node compares one "
            "feature with its threshold. If the feature is not above the threshold, the walk goes "
            "on with the first child. If it is above or NaN, the walk goes on with the second. A "
            "child or root of 0 or more is a node, and -1 - k is leaf k. A walk that reaches no "
            "leaf within depth steps gives a negative number.",
     .inputs = {{"data", "floats, (samples, features)"},
                {"features",
                 "integers, the feature of each node; with missing, -1 - f is feature f of a node "
                 "where NaN goes to the first child"},
                {"thresholds", "threshold of each node, in the dtype of data"},
                {"children", "integers, (nodes, 2): the children of each node"},
                {"roots", "integers, the root of each tree"}},
     .attrs = {{"depth", AttrType::kInt, {}, true, "number of steps of the longest walk"},
               {"missing", AttrType::kBool, false, false, "true if features may be negative"}}},
    {"data holds floats of shape (samples, features)",
     "thresholds is a vector of the dtype of data, with at least one element",
     "features and children have a row for each threshold", "roots is a vector",
     "features, children and roots hold integers", absl::StrCat("depth is 0 to ", kMaxDepth)},
    {.fusion = Fusion::kOpaque, .layout = LayoutRule::kFixed},
    InferDecisionTrees,
    LowerDecisionTrees,
    {Walk(Values(F32({4, 2}), {1, 2, 1, 3, 2, 0, kNan, 0}), kTables[0], 2, false,
          Values(I32({4, 2}), {0, 3, 1, 3, 2, 3, 2, 3})),
     Walk(Values(F32({3, 2}), {kNan, 2, 0, kNan, 5, 5}), Values(I8({2}), {-1, 1}), 3, true,
          Values(I32({3, 2}), {0, 3, 1, 3, 2, 3})),
     Walk(Values(F32({1, 2}), {1, 2}), kTables[0], 0, false, Values(I32({1, 2}), {-1, 3})),
     // A tree of one node, and one whose only node leads back to itself.
     Case({Values(F32({2, 1}), {1, 3}), Values(U8({2}), {0, 0}), Values(F32({2}), {2, 2}),
           Values(I8({2, 2}), {0, -1, -2, -3}), Values(I8({3}), {0, 1, 1})},
          {{"depth", 4}}, {Values(I32({2, 3}), {-1, 1, 1, 0, 2, 2})}),
     {.inputs = {F32({3, 2}), U8({2}), F32({2}), {{2, 2}, DType::Int(16)}, I32({5})},
      .attrs = {{"depth", 4}}}},
};
KILN_REGISTER_OP(kDecisionTrees);

}  // namespace
}  // namespace kiln
