// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/math.h"
#include "compiler/ops/axes.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"

namespace kiln {
namespace {

InferResult InferL2Normalize(const InferContext& c) {
  KILN_CONSTRAINT(1, c.inputs[0].dtype.is_float(), c.inputs[0].dtype.ToString(), "floats");
  KILN_RETURN_IF_ERROR(ReducedAxes(c.attrs, c.inputs[0].rank(), 2).status());
  return OutputTypes({c.inputs[0]});
}

absl::Status LowerL2Normalize(StageBuilder& b) {
  const Shape& shape = b.input_shape(0);
  KILN_ASSIGN_OR_RETURN(const std::vector<bool> reduced,
                        ReducedAxes(b.attrs(), static_cast<int>(shape.size()), 2));
  const double epsilon = b.attrs().Float("eps");
  const Access x = b.Input(0);
  const Shape rows = ReducedShape(shape, reduced, false);
  const Access squares = b.Reduce("squares", rows, ReductionExtents(shape, reduced),
                                  loop::Combine::kSum, [&](const Indices& i, const Indices& r) {
                                    const Expr value = x(UnreducedIndex(i, r, reduced, false));
                                    return value * value;
                                  });
  const Access norm = b.Compute("norm", rows, [&](const Indices& i) {
    const Expr sum = squares(i);
    return loop::Sqrt(Max(sum, loop::Const(sum.type(), epsilon)));
  });
  b.Output(0, [=](const Indices& i) { return x(i) / norm(ReducedIndex(i, reduced)); });
  return absl::OkStatus();
}

const OpDef kL2Normalize = {
    {.name = "nn.l2_normalize",
     .doc = "data / sqrt(max(sum of squares along the axes, eps)).",
     .inputs = {{"data", "floats of any shape"}},
     .attrs = {{"eps", AttrType::kFloat, {}, true, "least sum of squares"},
               {"axis", AttrType::kInts, {}, false, "axes of the sum; all if None"}}},
    {"data holds floats", "axis names axes of data, each at most once"},
    {.fusion = Fusion::kReduction, .layout = {LayoutRule::kAxis, "axis"}},
    InferL2Normalize,
    LowerL2Normalize,
    {Case({Values(F32({2, 2}), {3, 4, 0, 0})}, {{"eps", 0.25}, {"axis", AttrValue::Ints({1})}},
          {Values(F32({2, 2}), {0.6, 0.8, 0, 0})}, 1e-6),
     {.inputs = {F32({2, 3, 4})}, .attrs = {{"eps", 1e-12}, {"axis", AttrValue::Ints({1, -1})}}},
     {.inputs = {F16({2, 3})}, .attrs = {{"eps", 0.001}}}},
};
KILN_REGISTER_OP(kL2Normalize);

}  // namespace
}  // namespace kiln
