// SPDX-License-Identifier: Apache-2.0
#include "compiler/base/limits.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/stage_builder.h"

namespace kiln {
namespace {

InferResult InferDilate(const InferContext& c) {
  const TensorType& x = c.inputs[0];
  const std::vector<int64_t> strides = c.attrs.Ints("strides");
  KILN_CONSTRAINT(1, strides.size() == x.shape.size(), absl::StrCat(strides.size(), " strides"),
                  absl::StrCat(x.rank(), ", one per dimension"));
  Shape shape = x.shape;
  for (size_t d = 0; d < shape.size(); ++d) {
    KILN_CONSTRAINT(1, strides[d] >= 1 && strides[d] <= kMaxTensorElements,
                    absl::StrCat("stride ", strides[d]), "a positive one");
    int64_t& extent = shape[d];
    if (extent == 0) continue;
    const bool fits =
        !__builtin_mul_overflow(extent - 1, strides[d], &extent) && extent < kMaxTensorElements;
    KILN_CONSTRAINT(2, fits, absl::StrCat("dimension ", d), "a tensor within the limits");
    ++extent;
  }
  return OutputTypes({{std::move(shape), x.dtype}});
}

absl::Status LowerDilate(StageBuilder& b) {
  const std::vector<int64_t> strides = b.attrs().Ints("strides");
  const DType dtype = ComputeType(b.output_dtype(0));
  b.Output(0, [&, x = b.Input(0)](const Indices& i) {
    Indices at = i;
    Expr own = loop::IntConst(loop::Type::Of(DType::Bool()), 1);
    for (size_t d = 0; d < i.size(); ++d) {
      if (strides[d] == 1) continue;
      at[d] = i[d] / Expr(strides[d]);
      own = own && i[d] % Expr(strides[d]) == Expr(0);
    }
    return loop::MakeSelect(own, x(at), loop::Const(dtype, b.attrs().Float("dilation_value")));
  });
  return absl::OkStatus();
}

const OpDef kDilate = {
    {.name = "nn.dilate",
     .doc = "The elements of x, spread apart. Element i * stride of the result is element i of x, "
            "and dilation_value fills the gaps.",
     .inputs = {{"x", "any type"}},
     .attrs = {{"strides", AttrType::kInts, List({1, 1}), false, "stride per dimension"},
               {"dilation_value", AttrType::kFloat, 0.0, false,
                "value of the gaps, cast to the dtype of x"}}},
    {"strides has a positive number per dimension", "the result is a tensor within the limits"},
    {.fusion = Fusion::kInjective, .layout = {LayoutRule::kPerAxis, "strides"}},
    InferDilate,
    LowerDilate,
    {Case({Values(F32({2, 2}), {1, 2, 3, 4})}, {{"strides", List({1, 3})}, {"dilation_value", 9.0}},
          {Values(F32({2, 4}), {1, 9, 9, 2, 3, 9, 9, 4})}),
     Case({Values(I32({2}), {1, 2})}, {{"strides", List({2})}}, {Values(I32({3}), {1, 0, 2})}),
     {.inputs = {F16({2, 3, 4})}, .attrs = {{"strides", List({2, 1, 3})}}}},
};
KILN_REGISTER_OP(kDilate);

}  // namespace
}  // namespace kiln
