// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/matrix_product.h"

namespace kiln {

absl::StatusOr<DType> ProductType(const InferContext& c) {
  const DType a = c.inputs[0].dtype, b = c.inputs[1].dtype;
  KILN_CONSTRAINT(1, (a.is_float() && b.is_float()) || (a.is_integral() && b.is_integral()),
                  absl::StrCat(a.ToString(), " and ", b.ToString()), "floats, or integers");
  const bool given = !c.attrs.String("out_dtype").empty();
  KILN_CONSTRAINT(2, a == b || given, absl::StrCat(a.ToString(), " and ", b.ToString()),
                  "one dtype, or an out_dtype");
  const DType out = c.attrs.DTypeOr("out_dtype", a);
  KILN_CONSTRAINT(
      3,
      a.is_float() == out.is_float() && !out.is_bool() && out.bits >= a.bits && out.bits >= b.bits,
      absl::StrCat("out_dtype ", out.ToString()),
      absl::StrCat("a wider dtype than ", a.ToString(), " and ", b.ToString()));
  return out;
}

absl::StatusOr<Shape> DenseShape(const InferContext& c) {
  const Shape &data = c.inputs[0].shape, &weight = c.inputs[1].shape;
  KILN_CONSTRAINT(4, !data.empty() && weight.size() == 2,
                  absl::StrCat(ShapeToString(data), " and ", ShapeToString(weight)),
                  "data of rank 1 or more and a weight of rank 2");
  KILN_CONSTRAINT(5, data.back() == weight[1], absl::StrCat(data.back(), " inputs of data"),
                  absl::StrCat(weight[1], " as the weight has"));
  KILN_CONSTRAINT(6, c.attrs.IsNone("units") || c.attrs.Int("units") == weight[0],
                  absl::StrCat("units ", c.attrs.Get("units").ToString()),
                  absl::StrCat(weight[0], " as the weight has"));
  Shape shape = data;
  shape.back() = weight[0];
  return shape;
}

Factor Widened(const StageBuilder& b, Access x) {
  return [x = std::move(x), dtype = ComputeType(b.output_dtype(0))](const Indices& i) {
    const Expr value = x(i);
    return value.type().dtype == dtype ? value : loop::MakeCast(dtype, value);
  };
}

Factor WidenedInput(const StageBuilder& b, int k) { return Widened(b, b.Input(k)); }

}  // namespace kiln
