// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/broadcast.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"

namespace kiln {
namespace {

InferResult InferWhere(const InferContext& c) {
  const TensorType &x = c.inputs[1], &y = c.inputs[2];
  KILN_CONSTRAINT(1, x.dtype == y.dtype,
                  absl::StrCat(x.dtype.ToString(), " and ", y.dtype.ToString()), "one dtype");
  KILN_ASSIGN_OR_RETURN(const Shape values, BroadcastShapes(x.shape, y.shape, 2));
  KILN_ASSIGN_OR_RETURN(Shape shape, BroadcastShapes(c.inputs[0].shape, values, 2));
  return OutputTypes({{std::move(shape), x.dtype}});
}

absl::Status LowerWhere(StageBuilder& b) {
  const Access condition = Broadcast(b.Input(0), b.input_shape(0));
  const Access x = Broadcast(b.Input(1), b.input_shape(1));
  const Access y = Broadcast(b.Input(2), b.input_shape(2));
  b.Output(0, [=](const Indices& i) {
    const Expr choice = condition(i);
    const Expr chosen =
        choice.type().dtype.is_bool() ? choice : choice != loop::Const(choice.type(), 0);
    return loop::MakeSelect(chosen, x(i), y(i));
  });
  return absl::OkStatus();
}

const OpDef kWhere = {
    {.name = "where",
     .doc = "x where condition is not zero, and y elsewhere. The three inputs broadcast.",
     .inputs = {{"condition", "bool or numbers"},
                {"x", "any type"},
                {"y", "a tensor of the dtype of x"}}},
    {"x and y have the same dtype", "the three shapes broadcast"},
    {.fusion = Fusion::kElementwise, .layout = LayoutRule::kElementwise},
    InferWhere,
    LowerWhere,
    {Case({Values(Bools({2}), {1, 0}), Values(F32({2}), {1, 2}), Values(F32({2}), {3, 4})}, {},
          {Values(F32({2}), {1, 4})}),
     Case({Values(I32({2, 1}), {0, 3}), Values(I32({2}), {1, 2}), Values(I32({}), {9})}, {},
          {Values(I32({2, 2}), {9, 9, 1, 2})}),
     {.inputs = {Bools({2, 3}), F16({3}), F16({2, 3})}}},
};
KILN_REGISTER_OP(kWhere);

}  // namespace
}  // namespace kiln
