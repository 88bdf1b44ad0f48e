// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/axes.h"
#include "compiler/ops/broadcast.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/reduction.h"

namespace kiln {
namespace {

InferResult InferVariance(const InferContext& c) {
  const TensorType &data = c.inputs[0], &mean = c.inputs[1];
  KILN_CONSTRAINT(1, data.dtype.is_float() && mean.dtype == data.dtype,
                  absl::StrCat(data.dtype.ToString(), " and ", mean.dtype.ToString()),
                  "floats of one dtype");
  KILN_ASSIGN_OR_RETURN(Shape shape, InferReducedShape(c.attrs, data.shape, 2));
  KILN_ASSIGN_OR_RETURN(const Shape common, BroadcastShapes(data.shape, mean.shape, 3));
  KILN_CONSTRAINT(3, common == data.shape,
                  absl::StrCat("mean of shape ", ShapeToString(mean.shape)),
                  absl::StrCat("one that broadcasts to ", ShapeToString(data.shape)));
  return OutputTypes({{std::move(shape), data.dtype}});
}

absl::Status LowerVariance(StageBuilder& b) {
  const Access x = b.Input(0), mean = Broadcast(b.Input(1), b.input_shape(1));
  const Access sum = ReduceInputWith(b, "squares", loop::Combine::kSum,
                                     [&](const Indices&, const Indices& at, const Indices&) {
                                       const Expr distance = x(at) - mean(at);
                                       return distance * distance;
                                     });
  const int64_t count = NumElements(ReducedExtents(b)) - (b.attrs().Bool("unbiased") ? 1 : 0);
  b.Output(0, [=](const Indices& i) {
    const Expr total = sum(i);
    return total / loop::Const(total.type(), static_cast<double>(count));
  });
  return absl::OkStatus();
}

std::vector<AttrSchema> VarianceAttrs() {
  std::vector<AttrSchema> attrs = ReductionAttrs();
  attrs.push_back({"unbiased", AttrType::kBool, false, false,
                   "true to divide by the number of elements minus one"});
  return attrs;
}

const OpDef kVariance = {
    {.name = "variance",
     .doc = "The sum of (data - mean)^2 divided by the number of elements.",
     .inputs = {{"data", "floats"},
                {"mean",
                 "floats of a shape that broadcasts to data, as the mean with keepdims has"}},
     .attrs = VarianceAttrs()},
    {"data and mean hold floats of the same dtype", "axis names axes of data, each at most once",
     "mean broadcasts to data"},
    {.fusion = Fusion::kReduction, .layout = {LayoutRule::kReduction, "axis"}},
    InferVariance,
    LowerVariance,
    {Case({Values(F32({2, 2}), {1, 3, 2, 8}), Values(F32({2, 1}), {2, 5})}, {{"axis", 1}},
          {Values(F32({2}), {1, 9})}),
     Case({Values(F32({2, 2}), {1, 3, 2, 8}), Values(F32({2, 1}), {2, 5})},
          {{"axis", 1}, {"unbiased", true}, {"keepdims", true}}, {Values(F32({2, 1}), {2, 18})}),
     {.inputs = {F32({2, 3, 4}), F32({1, 1, 1})}},
     {.inputs = {F16({3, 4}), F16({1, 4})}, .attrs = {{"axis", 0}}}},
};
KILN_REGISTER_OP(kVariance);

}  // namespace
}  // namespace kiln
