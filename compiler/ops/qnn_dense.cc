// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/example.h"
#include "compiler/ops/matrix_product.h"
#include "compiler/ops/quantized_product.h"

namespace kiln {
namespace {

// Constraints 4 to 6 are those of DenseShape.
InferResult InferQnnDense(const InferContext& c) {
  KILN_ASSIGN_OR_RETURN(const DType dtype, QuantizedProductType(c));
  KILN_ASSIGN_OR_RETURN(Shape shape, DenseShape(c));
  KILN_RETURN_IF_ERROR(CheckProductOperands(c, shape.back()));
  return OutputTypes({{std::move(shape), dtype}});
}

absl::Status LowerQnnDense(StageBuilder& b) {
  const Shape& weight = b.input_shape(kProductY);
  const QuantizedProduct product = MakeQuantizedProduct(
      b, weight[0], [](const Shape& index) { return index[0]; }, Beyond::kNothing);
  const Access x = product.Factor(product.x);
  const Access sum = b.Reduce("dense", b.output_shape(0), {weight[1]}, loop::Combine::kSum,
                              [&](const Indices& i, const Indices& r) {
                                Indices at = i;
                                at.back() = r[0];
                                return x(at) * product.y({i.back(), r[0]});
                              });
  b.Output(0, [&](const Indices& i) { return product.Corrected(sum(i), i.back()); });
  return absl::OkStatus();
}

const OpDef kQnnDense = {
    {.name = "qnn.dense",
     .doc = "nn.dense of quantized numbers: Y[…, n] = sum over k of (data[…, k] - "
            "input_zero_point) * (weight[n, k] - weight_zero_point). The sums stand for sum * "
            "input_scale * weight_scale, but the scales have no effect here.",
     .inputs = ProductInputs("(…, k)", "(units, k)"),
     .attrs = {{"units",
                AttrType::kInt,
                {},
                false,
                "number of rows of the weight; taken from the weight if None"},
               {"out_dtype", AttrType::kDType, "", false, "dtype of the sums; int32 if \"\""}}},
    ProductConstraints({"data has rank 1 or more, and weight has rank 2",
                        "the last extents of data and weight are equal",
                        "units is None or the first extent of weight"}),
    {.fusion = Fusion::kContraction, .layout = LayoutRule::kFixed, .weight = 1},
    InferQnnDense,
    LowerQnnDense,
    {Case({Values(I8({2, 3}), {1, 2, 3, 4, 5, 6}), Values(I8({2, 3}), {1, 0, -1, 2, 2, 2}),
           Scale(1), ZeroPoint(1), Scale(1), ZeroPoint(0)},
          {{"units", 2}}, {Values(I32({2, 2}), {-2, 6, -2, 24})}),
     // Weights minus their zero point exceed 16 bits.
     Case({Values({{1, 4}, DType::UInt(16)}, {1, 1, 1, 1}),
           Values({{1, 4}, DType::UInt(16)}, {65535, 65535, 1, 0}), Scale(1), ZeroPoint(0),
           Scale(1), ZeroPoint(1)},
          {{"units", 1}}, {Values(I32({1, 1}), {131067})}),
     ProductExample(I8({1, 40}), -128, I8({12, 40}), Scale(0.1), 0, {{"units", AttrValue::None()}}),
     ProductExample(U8({3, 17}), 100, U8({9, 17}), Scale(0.1), 130, {{"units", 9}}),
     ProductExample({{2, 16}, DType::Int(16)}, 0, I8({8, 16}), Scale(0.1), 0,
                    {{"units", 8}, {"out_dtype", "int64"}}),
     {.inputs = {I8({2, 5}), I8({3, 5}), ScaleType(), I32({}), ScaleType(), I32({})},
      .attrs = {{"units", 3}},
      .values = {Tensor(), Tensor(), Scale(1), Tensor(), Scale(1), Tensor()}}},
};
KILN_REGISTER_OP(kQnnDense);

}  // namespace
}  // namespace kiln
