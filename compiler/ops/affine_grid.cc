// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/stage_builder.h"

namespace kiln {
namespace {

InferResult InferAffineGrid(const InferContext& c) {
  const TensorType& data = c.inputs[0];
  KILN_CONSTRAINT(1, data.dtype.is_float(), data.dtype.ToString(), "floats");
  KILN_CONSTRAINT(2, data.rank() == 3 && data.shape[1] == 2 && data.shape[2] == 3,
                  ShapeToString(data.shape), "(n, 2, 3)");
  const std::vector<int64_t> target = c.attrs.Ints("target_shape");
  KILN_CONSTRAINT(3, target.size() == 2 && target[0] >= 1 && target[1] >= 1,
                  absl::StrCat("target_shape ", c.attrs.Get("target_shape").ToString()),
                  "two positive numbers");
  return OutputTypes({{{data.shape[0], 2, target[0], target[1]}, data.dtype}});
}

absl::Status LowerAffineGrid(StageBuilder& b) {
  const Shape& out = b.output_shape(0);
  const DType dtype = ComputeType(b.output_dtype(0));
  // The coordinate of place i: -1 at the first place, 1 at the last. A single place has 0.
  const auto coordinate = [&](const Expr& i, int64_t extent) {
    const auto number = [&](double value) { return loop::Const(dtype, value); };
    if (extent == 1) return number(0);
    return loop::MakeCast(dtype, i * Expr(2)) / number(static_cast<double>(extent) - 1) - number(1);
  };
  b.Output(0, [&, theta = b.Input(0)](const Indices& i) {
    const Expr x = coordinate(i[3], out[3]), y = coordinate(i[2], out[2]);
    return theta({i[0], i[1], 0}) * x + theta({i[0], i[1], 1}) * y + theta({i[0], i[1], 2});
  });
  return absl::OkStatus();
}

const OpDef kAffineGrid = {
    {.name = "image.affine_grid",
     .doc = "The grid of image.grid_sample for affine maps. It holds data · (x, y, 1) for every "
            "position of an image of target_shape, with x and y from -1 at the first position to 1 "
            "at the last.",
     .inputs = {{"data", "floats, (n, 2, 3)"}},
     .attrs = {{"target_shape", AttrType::kInts, {}, true, "height and width of the image"}}},
    {"data holds floats", "data has shape (n, 2, 3)", "target_shape has two positive numbers"},
    {.fusion = Fusion::kInjective, .layout = LayoutRule::kFixed},
    InferAffineGrid,
    LowerAffineGrid,
    {Case({Values(F32({1, 2, 3}), {1, 2, 3, 0, 4, 0.5})}, {{"target_shape", List({2, 3})}},
          {Values(F32({1, 2, 2, 3}), {0, 1, 2, 4, 5, 6, -3.5, -3.5, -3.5, 4.5, 4.5, 4.5})}),
     Case({Values(F32({1, 2, 3}), {1, 2, 3, 4, 5, 6})}, {{"target_shape", List({1, 1})}},
          {Values(F32({1, 2, 1, 1}), {3, 6})}),
     {.inputs = {F16({2, 2, 3})}, .attrs = {{"target_shape", List({3, 5})}}}},
};
KILN_REGISTER_OP(kAffineGrid);

}  // namespace
}  // namespace kiln
