// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/matrix_product.h"

namespace kiln {

absl::StatusOr<DType> ProductType(const InferContext& c, bool takes_byte_weights) {
  const DType a = c.inputs[0].dtype, b = c.inputs[1].dtype;
  const bool of_bytes =
      takes_byte_weights && a.is_float() && b.is_integral() && !b.is_bool() && b.bits == 8;
  KILN_CONSTRAINT(
      1, (a.is_float() && b.is_float()) || (a.is_integral() && b.is_integral()) || of_bytes,
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

absl::StatusOr<Shape> BatchShape(const Shape& a, const Shape& b) {
  Shape batch;
  for (size_t i = 0; i + 2 < a.size(); ++i) {
    KILN_CONSTRAINT(6, a[i] == b[i] || a[i] == 1 || b[i] == 1,
                    absl::StrCat(ShapeToString(a), " and ", ShapeToString(b)),
                    "batches that broadcast");
    batch.push_back(a[i] == 1 ? b[i] : a[i]);
  }
  return batch;
}

Indices MatrixIndex(const Indices& i, const Shape& shape, const MatrixElement& element,
                    bool transposed) {
  Indices index;
  for (size_t d = 0; d + 2 < shape.size(); ++d) {
    index.push_back(shape[d] == 1 ? Expr(0) : i[d]);
  }
  index.push_back(transposed ? element.column : element.row);
  index.push_back(transposed ? element.row : element.column);
  return index;
}

Factor Widened(const StageBuilder& b, Access x) {
  return [x = std::move(x), dtype = ComputeType(b.output_dtype(0))](const Indices& i) {
    const Expr value = x(i);
    return value.type().dtype == dtype ? value : loop::MakeCast(dtype, value);
  };
}

Factor WidenedInput(const StageBuilder& b, int k) { return Widened(b, b.Input(k)); }

}  // namespace kiln
