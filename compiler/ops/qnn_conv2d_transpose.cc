// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/quantized_product.h"
#include "compiler/ops/transposed_convolution.h"

namespace kiln {
namespace {

// Constraints 4 to 13 are those of MakeTransposed.
InferResult InferQnnConv2dTranspose(const InferContext& c) {
  KILN_ASSIGN_OR_RETURN(const DType dtype, QuantizedProductType(c));
  KILN_ASSIGN_OR_RETURN(const Transposed t,
                        MakeTransposed(c.attrs, c.inputs[kProductX], c.inputs[kProductY], 2));
  KILN_RETURN_IF_ERROR(CheckProductOperands(c, t.conv.out_channels()));
  return OutputTypes({{t.conv.OutShape(), dtype}});
}

absl::Status LowerQnnConv2dTranspose(StageBuilder& b) {
  KILN_ASSIGN_OR_RETURN(const Transposed t, MakeTransposed(b.attrs(), b.input_type(kProductX),
                                                           b.input_type(kProductY), 2));
  const Convolution& conv = t.conv;
  const QuantizedProduct product = MakeQuantizedProduct(
      b, conv.out_channels(),
      [&](const Shape& index) {
        const int64_t group = index[conv.kernel.i] / conv.in_per_group;
        return group * conv.out_per_group + index[conv.kernel.o];
      },
      Beyond::kPadding);
  // The places between those of data hold the zero point and count as 0, like the
  // padding of a convolution.
  const Access spread = Spread(b, product.x, t, product.padding);
  const Access sum =
      Convolve(b, "conv", conv, product.Factor(spread), ReadFlippedKernel(conv, product.y));
  const size_t channel = conv.layout.channel_dim();
  b.Output(0, [&](const Indices& i) { return product.Corrected(sum(i), i[channel]); });
  return absl::OkStatus();
}

std::vector<std::string> TransposeConstraints() {
  const std::vector<std::string> of_floats = TransposedConstraints(2);
  return ProductConstraints({of_floats.begin() + 3, of_floats.end()});
}

const OpDef kConv2dTranspose = {
    {.name = "qnn.conv2d_transpose",
     .doc = "nn.conv2d_transpose of quantized numbers: the sums of (data - input_zero_point) * "
            "(weight - weight_zero_point). They stand for sum * input_scale * weight_scale, but "
            "the scales have no effect here.",
     .inputs = ProductInputs("dimensions as data_layout says",
                             "(channels, outputs / groups, taps…), or as kernel_layout says"),
     .attrs = TransposedAttrs(2, "dtype of the sums; int32 if \"\"")},
    TransposeConstraints(),
    {.fusion = Fusion::kContraction,
     .layout = {LayoutRule::kNamed, "data_layout"},
     .weight = 1,
     .canonical = SubpixelConvolution},
    InferQnnConv2dTranspose,
    LowerQnnConv2dTranspose,
    {// Data minus its zero point is 1 and 2.
     Case({Values(I8({1, 1, 1, 2}), {4, 5}), Values(I8({1, 1, 1, 3}), {1, 10, 100}), Scale(1),
           ZeroPoint(3), Scale(1), ZeroPoint(0)},
          {{"strides", List({1, 2})}}, {Values(I32({1, 1, 1, 5}), {1, 10, 102, 20, 200})}),
     // The same numbers, now also with a zero point of the weight. Padding
     // drops the ends of the result.
     Case({Values(U8({1, 1, 1, 2}), {129, 130}), Values(U8({1, 1, 1, 3}), {3, 12, 102}), Scale(1),
           ZeroPoint(128), Scale(1), ZeroPoint(2)},
          {{"strides", List({1, 2})}, {"padding", List({0, 1})}, {"output_padding", List({0, 1})}},
          {Values(I32({1, 1, 1, 4}), {10, 102, 20, 200})}),
     ProductExample(I8({1, 4, 3, 5}), -3, I8({6, 3, 3, 5}), Scales({1, 2, 3, 4, 5, 6}), 0,
                    {{"data_layout", "NHWC"},
                     {"kernel_layout", "OHWI"},
                     {"strides", List({2, 2})},
                     {"padding", List({0, 1, 1, 0})}}),
     ProductExample(I8({2, 4, 3, 5}), 7, I8({4, 3, 3, 2}), Scale(0.1), 2,
                    {{"groups", 2}, {"dilation", List({1, 2})}}),
     ProductExample({{1, 1, 6, 4}, DType::Int(16)}, 0, I8({3, 1, 4, 4}), Scale(0.1), 0,
                    {{"data_layout", "NHWC"},
                     {"kernel_layout", "OHWI"},
                     {"strides", List({1, 2})},
                     {"out_dtype", "int64"}}),
     {.inputs = {I8({1, 2, 4, 4}), I8({2, 3, 3, 3}), ScaleType(), I32({}), ScaleType(), I32({})},
      .attrs = {{"strides", List({2, 1})}},
      .values = {Tensor(), Tensor(), Scale(1), Tensor(), Scale(1), Tensor()}}},
};
KILN_REGISTER_OP(kConv2dTranspose);

}  // namespace
}  // namespace kiln
