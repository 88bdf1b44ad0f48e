// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/matrix_product.h"
#include "compiler/ops/quantized_product.h"

namespace kiln {
namespace {

// Positions of the rows and columns of a matrix in a shape, counted from the end.
constexpr size_t kRow = 2, kColumn = 1;

int64_t Extent(const Shape& shape, size_t from_end) { return shape[shape.size() - from_end]; }

// The channel of a column of the matrix at the batch index `index`.
template <typename T, typename Index>
T Channel(T column, const Index& index, const Shape& strides) {
  for (size_t d = 0; d < strides.size(); ++d) {
    if (strides[d] != 0) column = column + index[d] * T(strides[d]);
  }
  return column;
}

InferResult InferQnnBatchMatmul(const InferContext& c) {
  KILN_ASSIGN_OR_RETURN(const DType dtype, QuantizedProductType(c));
  const Shape &x = c.inputs[kProductX].shape, &y = c.inputs[kProductY].shape;
  KILN_CONSTRAINT(4, x.size() >= 3 && x.size() == y.size(),
                  absl::StrCat(ShapeToString(x), " and ", ShapeToString(y)),
                  "one rank, of 3 or more");
  const bool xt = c.attrs.Bool("transpose_a"), yt = c.attrs.Bool("transpose_b");
  const int64_t depth = Extent(x, xt ? kRow : kColumn);
  const int64_t y_depth = Extent(y, yt ? kColumn : kRow);
  KILN_CONSTRAINT(5, depth == y_depth, absl::StrCat("depths ", depth, " and ", y_depth),
                  "one depth");
  KILN_ASSIGN_OR_RETURN(Shape shape, BatchShape(x, y));
  KILN_RETURN_IF_ERROR(CheckProductOperands(c, 1));
  shape.push_back(Extent(x, xt ? kColumn : kRow));
  shape.push_back(Extent(y, yt ? kRow : kColumn));
  return OutputTypes({{std::move(shape), dtype}});
}

absl::Status LowerQnnBatchMatmul(StageBuilder& b) {
  const bool xt = b.attrs().Bool("transpose_a"), yt = b.attrs().Bool("transpose_b");
  const Shape &xs = b.input_shape(kProductX), &ys = b.input_shape(kProductY);
  const size_t column_dim = ys.size() - (yt ? kRow : kColumn);
  // Every column of every matrix of y is a channel.
  const Shape batch(ys.begin(), ys.end() - 2);
  Shape strides(batch.size(), 0);
  int64_t channels = ys[column_dim];
  for (size_t d = batch.size(); d-- > 0; channels *= batch[d]) {
    if (batch[d] > 1) strides[d] = channels;
  }
  const QuantizedProduct product = MakeQuantizedProduct(
      b, channels, [&](const Shape& index) { return Channel(index[column_dim], index, strides); },
      Beyond::kNothing);
  const Access x = product.Factor(product.x);
  const Access sum = b.Reduce("matmul", b.output_shape(0), {Extent(xs, xt ? kRow : kColumn)},
                              loop::Combine::kSum, [&](const Indices& i, const Indices& r) {
                                return x(MatrixIndex(i, xs, {i[i.size() - kRow], r[0]}, xt)) *
                                       product.y(MatrixIndex(i, ys, {r[0], i.back()}, yt));
                              });
  b.Output(0, [&](const Indices& i) {
    return product.Corrected(sum(i), Channel(i.back(), i, strides));
  });
  return absl::OkStatus();
}

const OpDef kQnnBatchMatmul = {
    {.name = "qnn.batch_matmul",
     .doc = "nn.batch_matmul of quantized numbers: the products op(x - x_zero_point) op(y - "
            "y_zero_point). They stand for product * x_scale * y_scale, but the scales have no "
            "effect here.",
     .inputs = {{"x", "(batch…, m, k), or (batch…, k, m) if transposed"},
                {"y", "(batch…, k, n), or (batch…, n, k) if transposed"},
                {"x_scale", "one scale"},
                {"x_zero_point", "int32"},
                {"y_scale", "one scale"},
                {"y_zero_point", "int32"}},
     .attrs = {{"out_dtype", AttrType::kDType, "", false, "dtype of the sums; int32 if \"\""},
               {"transpose_a", AttrType::kBool, false, false,
                "true if x holds transposed matrices"},
               {"transpose_b", AttrType::kBool, false, false,
                "true if y holds transposed matrices"}}},
    ProductConstraints({"x and y have the same rank, which is 3 or more", "their depths are equal",
                        "their batch extents are equal, or 1 in one of them"}),
    {.fusion = Fusion::kContraction, .layout = LayoutRule::kFixed, .weight = 1},
    InferQnnBatchMatmul,
    LowerQnnBatchMatmul,
    {Case({Values(I8({1, 2, 2}), {1, 2, 3, 4}), Values(I8({1, 2, 2}), {1, 2, 3, 4}), Scale(1),
           ZeroPoint(1), Scale(1), ZeroPoint(1)},
          {}, {Values(I32({1, 2, 2}), {2, 3, 6, 11})}),
     Case({Values(U8({1, 2, 1}), {3, 5}), Values(U8({2, 1, 2}), {1, 2, 3, 4}), Scale(1),
           ZeroPoint(0), Scale(1), ZeroPoint(2)},
          {{"transpose_a", true}, {"transpose_b", true}, {"out_dtype", "int64"}},
          {Values(I64({2, 1, 1}), {-3, 13})}),
     ProductExample(I8({2, 9, 17}), -128, I8({2, 17, 12}), Scale(0.1), 3, {}),
     ProductExample(U8({2, 3, 8}), 100, U8({1, 9, 8}), Scale(0.1), 130, {{"transpose_b", true}}),
     ProductExample(U8({1, 2, 3, 8}), 100, U8({3, 1, 9, 8}), Scale(0.1), 130,
                    {{"transpose_b", true}}),
     {.inputs = {I8({2, 5, 3}), I8({2, 5, 4}), ScaleType(), I32({}), ScaleType(), I32({})},
      .attrs = {{"transpose_a", true}},
      .values = {Tensor(), Tensor(), Scale(1), Tensor(), Scale(1), Tensor()}}},
};
KILN_REGISTER_OP(kQnnBatchMatmul);

}  // namespace
}  // namespace kiln
