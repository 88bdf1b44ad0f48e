// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/quantized_product.h"

namespace kiln {
namespace {

InferResult Infer(const InferContext& c) {
  KILN_ASSIGN_OR_RETURN(const DType dtype, QuantizedProductType(c));
  const Shape &x = c.inputs[kProductX].shape, &y = c.inputs[kProductY].shape;
  KILN_CONSTRAINT(4, x.size() == 3 && y.size() == 3,
                  absl::StrCat(ShapeToString(x), " and ", ShapeToString(y)), "rank 3");
  const bool xt = c.attrs.Bool("transpose_a"), yt = c.attrs.Bool("transpose_b");
  const int64_t depth = x[xt ? 1 : 2], y_depth = y[yt ? 2 : 1];
  KILN_CONSTRAINT(5, depth == y_depth, absl::StrCat("depths ", depth, " and ", y_depth),
                  "one depth");
  KILN_CONSTRAINT(6, x[0] == y[0] || x[0] == 1 || y[0] == 1,
                  absl::StrCat("batches ", x[0], " and ", y[0]), "one number, or 1");
  KILN_RETURN_IF_ERROR(CheckProductOperands(c, 1));
  return OutputTypes({{{x[0] == 1 ? y[0] : x[0], x[xt ? 2 : 1], y[yt ? 1 : 2]}, dtype}});
}

absl::Status Lower(StageBuilder& b) {
  const bool xt = b.attrs().Bool("transpose_a"), yt = b.attrs().Bool("transpose_b");
  const Shape &xs = b.input_shape(kProductX), &ys = b.input_shape(kProductY);
  const size_t column_dim = yt ? 1 : 2;
  const int64_t columns = ys[column_dim];
  // Every column of every matrix of y is a channel.
  const QuantizedProduct product = MakeQuantizedProduct(
      b, ys[0] * columns,
      [&](const Shape& index) { return index[0] * columns + index[column_dim]; }, Beyond::kNothing);
  const Access x = product.Factor(product.x);
  const auto at = [](const Shape& shape, const Expr& batch, const Expr& row, const Expr& column,
                     bool transposed) {
    const Expr own = shape[0] == 1 ? Expr(0) : batch;
    return transposed ? Indices{own, column, row} : Indices{own, row, column};
  };
  const Access sum =
      b.Reduce("matmul", b.output_shape(0), {xs[xt ? 1 : 2]}, loop::Combine::kSum,
               [&](const Indices& i, const Indices& r) {
                 return x(at(xs, i[0], i[1], r[0], xt)) * product.y(at(ys, i[0], r[0], i[2], yt));
               });
  b.Output(0, [&](const Indices& i) {
    const Expr batch = ys[0] == 1 ? Expr(0) : i[0];
    return product.Corrected(sum(i), batch * Expr(columns) + i[2]);
  });
  return absl::OkStatus();
}

const OpDef kBatchMatmul = {
    {.name = "qnn.batch_matmul",
     .doc = "nn.batch_matmul of quantised numbers: the products op(x - x_zero_point) "
            "op(y - y_zero_point). They stand for product * x_scale * y_scale; the scales change "
            "nothing here.",
     .inputs = {{"x", "(batch, m, k), or (batch, k, m) transposed"},
                {"y", "(batch, k, n), or (batch, n, k) transposed"},
                {"x_scale", "one"},
                {"x_zero_point", "int32"},
                {"y_scale", "one"},
                {"y_zero_point", "int32"}},
     .attrs = {{"out_dtype", AttrType::kDType, "", false, "of the sums; \"\": int32"},
               {"transpose_a", AttrType::kBool, false, false, "x holds the transposed matrices"},
               {"transpose_b", AttrType::kBool, false, false, "y holds the transposed matrices"}}},
    ProductConstraints({"x and y have rank 3", "their depths are one",
                        "their batches are one, or one of them is 1"}),
    {.fusion = Fusion::kContraction, .layout = LayoutRule::kFixed, .weight = 1},
    Infer,
    Lower,
    {Case({Values(I8({1, 2, 2}), {1, 2, 3, 4}), Values(I8({1, 2, 2}), {1, 2, 3, 4}), Scale(1),
           ZeroPoint(1), Scale(1), ZeroPoint(1)},
          {}, {Values(I32({1, 2, 2}), {2, 3, 6, 11})}),
     Case({Values(U8({1, 2, 1}), {3, 5}), Values(U8({2, 1, 2}), {1, 2, 3, 4}), Scale(1),
           ZeroPoint(0), Scale(1), ZeroPoint(2)},
          {{"transpose_a", true}, {"transpose_b", true}, {"out_dtype", "int64"}},
          {Values(I64({2, 1, 1}), {-3, 13})}),
     ProductExample(I8({2, 9, 17}), -128, I8({2, 17, 12}), Scale(0.1), 3, {}),
     ProductExample(U8({2, 3, 8}), 100, U8({1, 9, 8}), Scale(0.1), 130, {{"transpose_b", true}}),
     {.inputs = {I8({2, 5, 3}), I8({2, 5, 4}), ScaleType(), I32({}), ScaleType(), I32({})},
      .attrs = {{"transpose_a", true}},
      .values = {Tensor(), Tensor(), Scale(1), Tensor(), Scale(1), Tensor()}}},
};
KILN_REGISTER_OP(kBatchMatmul);

}  // namespace
}  // namespace kiln
