// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/math.h"
#include "compiler/ops/axes.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"

namespace kiln {
namespace {

using loop::Combine;

InferResult InferSoftmax(const InferContext& c) {
  KILN_CONSTRAINT(1, c.inputs[0].dtype.is_float(), c.inputs[0].dtype.ToString(), "floats");
  KILN_RETURN_IF_ERROR(NormalizeAxis(c.attrs.Int("axis"), c.inputs[0].rank(), 2).status());
  return OutputTypes({c.inputs[0]});
}

// The parts that softmax and log_softmax share.
struct Parts {
  std::vector<bool> reduced;
  Access x, max, sum;  // max and sum are read with the reduced index
};

// Makes the parts. `exponential` puts exp(x - max) in a stage if the caller reads it again.
Parts MakeParts(StageBuilder& b, const std::function<Access(Access)>& exponential) {
  const Shape& shape = b.input_shape(0);
  Parts p{.reduced = std::vector<bool>(shape.size()), .x = b.Input(0), .max = {}, .sum = {}};
  p.reduced[AxisOf(b.attrs().Int("axis"), shape.size())] = true;
  const Shape rows = ReducedShape(shape, p.reduced, false);
  const Shape extent = ReductionExtents(shape, p.reduced);
  // A NaN makes the sum NaN, so it need not be the maximum.
  p.max = b.Reduce("max", rows, extent, Combine::kMaxOfNumbers,
                   [&](const Indices& i, const Indices& r) {
                     return p.x(UnreducedIndex(i, r, p.reduced, false));
                   });
  const Access e = exponential([x = p.x, max = p.max, reduced = p.reduced](const Indices& i) {
    return loop::ExpOfNonPositive(x(i) - max(ReducedIndex(i, reduced)));
  });
  p.sum = b.Reduce("sum", rows, extent, Combine::kSum, [&](const Indices& i, const Indices& r) {
    return e(UnreducedIndex(i, r, p.reduced, false));
  });
  return p;
}

absl::Status LowerSoftmax(StageBuilder& b) {
  Access exp;
  const Parts p = MakeParts(b, [&](Access e) {
    exp = b.Compute("exp", b.input_shape(0), e);
    return exp;
  });
  // One division per row. The sum of finite values is at least 1, the exponential of the maximum.
  const Access scale =
      b.Compute("scale", ReducedShape(b.input_shape(0), p.reduced, false), [&](const Indices& i) {
        const Expr sum = p.sum(i);
        return loop::Const(sum.type(), 1) / sum;
      });
  b.Output(0, [=](const Indices& i) { return exp(i) * scale(ReducedIndex(i, p.reduced)); });
  return absl::OkStatus();
}

absl::Status LowerLogSoftmax(StageBuilder& b) {
  const Parts p = MakeParts(b, [](Access e) { return e; });
  const Access log_sum = b.Compute("log_sum", ReducedShape(b.input_shape(0), p.reduced, false),
                                   [&](const Indices& i) { return loop::Log(p.sum(i)); });
  b.Output(0, [=](const Indices& i) {
    const Indices row = ReducedIndex(i, p.reduced);
    return p.x(i) - p.max(row) - log_sum(row);
  });
  return absl::OkStatus();
}

bool SoftmaxByRows(const Graph& graph, const Node& node) {
  const size_t rank = graph.type(node.inputs[0]).shape.size();
  return AxisOf(node.attrs.Int("axis"), rank) + 1 == rank;
}

OpDef Softmax(std::string name, std::string doc, absl::Status (*lower)(StageBuilder&),
              const std::vector<double>& expected) {
  return {{.name = std::move(name),
           .doc = std::move(doc),
           .inputs = {{"data", "floats of rank 1 or more"}},
           .attrs = {{"axis", AttrType::kInt, -1, false, "axis of the softmax"}}},
          {"data holds floats", "axis is an axis of data"},
          {.fusion = Fusion::kReduction,
           .layout = {LayoutRule::kAxis, "axis"},
           .fuses_multiply_adds = true,
           .by_rows = SoftmaxByRows},
          InferSoftmax,
          lower,
          {Case({Values(F32({2, 2}), {0, 1, 1000, 1000})}, {{"axis", -1}},
                {Values(F32({2, 2}), expected)}, 1e-6),
           {.inputs = {F32({3, 10})}, .attrs = {{"axis", 1}}},
           {.inputs = {F32({2, 3, 4})}, .attrs = {{"axis", 1}}},
           {.inputs = {F16({2, 5})}, .attrs = {{"axis", -1}}}}};
}

const OpDef kSoftmax[] = {
    Softmax("nn.softmax", "exp(x - max) / sum of exp(x - max), along the axis.", LowerSoftmax,
            {0.2689414214, 0.7310585786, 0.5, 0.5}),
    Softmax("nn.fast_softmax", "The same function as nn.softmax.", LowerSoftmax,
            {0.2689414214, 0.7310585786, 0.5, 0.5}),
    Softmax("nn.log_softmax", "x - max - log(sum of exp(x - max)), along the axis.",
            LowerLogSoftmax, {-1.3132616875, -0.3132616875, -0.6931471806, -0.6931471806}),
};
KILN_REGISTER_OPS(kSoftmax);

}  // namespace
}  // namespace kiln
