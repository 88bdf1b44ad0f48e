// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/matrix_product.h"

namespace kiln {
namespace {

// Constraints 1 to 3 are those of ProductType.
InferResult InferDense(const InferContext& c) {
  KILN_ASSIGN_OR_RETURN(const DType dtype, ProductType(c, /*takes_byte_weights=*/true));
  KILN_ASSIGN_OR_RETURN(Shape shape, DenseShape(c));
  return OutputTypes({{std::move(shape), dtype}});
}

absl::Status LowerDense(StageBuilder& b) {
  const Factor data = WidenedInput(b, 0), weight = WidenedInput(b, 1);
  const Access dense = b.Reduce("dense", b.output_shape(0), {b.input_shape(1)[1]},
                                loop::Combine::kSum, [&](const Indices& i, const Indices& r) {
                                  Indices at = i;
                                  at.back() = r[0];
                                  return data(at) * weight({i.back(), r[0]});
                                });
  b.Output(0, dense);
  return absl::OkStatus();
}

bool DenseByRows(const Graph&, const Node&) { return true; }

const OpDef kDense = {
    {.name = "nn.dense",
     .doc = "Y = X Wᵀ: Y[…, n] = sum over k of data[…, k] * weight[n, k].",
     .inputs = {{"data", "(…, k)"}, {"weight", "(units, k)"}},
     .attrs = {{"units",
                AttrType::kInt,
                {},
                false,
                "number of rows of the weight; taken from the weight if None"},
               {"out_dtype", AttrType::kDType, "", false,
                "dtype of the sums; that of data if \"\""}}},
    {"data and weight both hold floats or both hold integers, or data holds floats and weight "
     "holds int8 or uint8",
     "their dtypes are equal, or out_dtype is given",
     "out_dtype is of the same kind and not narrower",
     "data has rank 1 or more, and weight has rank 2",
     "the last extents of data and weight are equal",
     "units is None or the first extent of weight"},
    {.fusion = Fusion::kContraction,
     .layout = LayoutRule::kFixed,
     .weight = 1,
     .takes_byte_weights = true,
     .channels = Channels::kRows,
     .by_rows = DenseByRows,
     .quantized = "qnn.dense"},
    InferDense,
    LowerDense,
    {Case({Values(F32({2, 3}), {1, 2, 3, 4, 5, 6}), Values(F32({2, 3}), {1, 0, -1, 0.5, 1, 2})},
          {{"units", 2}}, {Values(F32({2, 2}), {-2, 8.5, -2, 19})}),
     Case({Values(I8({1, 2}), {100, 100}), Values(I8({1, 2}), {100, -1})},
          {{"units", AttrValue::None()}, {"out_dtype", "int32"}}, {Values(I32({1, 1}), {9900})}),
     Case({Values(F32({1, 2}), {0.5, 2}), Values(I8({2, 2}), {100, -1, -128, 127})},
          {{"units", 2}, {"out_dtype", "float32"}}, {Values(F32({1, 2}), {48, 190})}),
     {.inputs = {F32({4, 17}), F32({9, 17})}},
     {.inputs = {F32({3, 21}), I8({19, 21})}, .attrs = {{"out_dtype", "float32"}}},
     {.inputs = {F32({2, 3, 5}), F32({4, 5})}},
     {.inputs = {F16({2, 5}), F16({3, 5})}}},
};
KILN_REGISTER_OP(kDense);

}  // namespace
}  // namespace kiln
