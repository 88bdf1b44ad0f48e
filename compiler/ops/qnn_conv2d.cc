// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "compiler/ops/constraint.h"
#include "compiler/ops/convolution.h"
#include "compiler/ops/example.h"
#include "compiler/ops/merge_padding.h"
#include "compiler/ops/quantized_product.h"

namespace kiln {
namespace {

// Constraints 4 to 12 are those of MakeConvolution.
InferResult InferQnnConv2d(const InferContext& c) {
  KILN_ASSIGN_OR_RETURN(const DType dtype, QuantizedProductType(c));
  KILN_ASSIGN_OR_RETURN(const Convolution conv,
                        MakeConvolution(c.attrs, c.inputs[kProductX], c.inputs[kProductY], 2));
  KILN_RETURN_IF_ERROR(CheckProductOperands(c, conv.out_channels()));
  return OutputTypes({{conv.OutShape(), dtype}});
}

absl::Status LowerQnnConv2d(StageBuilder& b) {
  KILN_ASSIGN_OR_RETURN(const Convolution conv, MakeConvolution(b.attrs(), b.input_type(kProductX),
                                                                b.input_type(kProductY), 2));
  const bool pads = std::any_of(conv.window.begin(), conv.window.end(),
                                [](const WindowDim& d) { return d.reads_padding(); });
  const QuantizedProduct product = MakeQuantizedProduct(
      b, conv.out_channels(),
      [&](const Shape& index) {
        const int64_t o = index[conv.kernel.o];
        return conv.multiplier_in_i ? o * conv.out_per_group + index[conv.kernel.i] : o;
      },
      pads ? Beyond::kPadding : Beyond::kNothing);
  const Access padded =
      Padded(b, product.x, conv.layout, b.input_shape(kProductX), conv.window, product.padding);
  const Access sum = Convolve(b, "conv", conv, product.Factor(padded), ReadKernel(conv, product.y));
  const size_t channel = conv.layout.channel_dim();
  b.Output(0, [&](const Indices& i) { return product.Corrected(sum(i), i[channel]); });
  return absl::OkStatus();
}

std::vector<std::string> Constraints() {
  const std::vector<std::string> of_floats = ConvolutionConstraints();
  return ProductConstraints({of_floats.begin() + 3, of_floats.end()});
}

Attrs Nhwc(std::initializer_list<std::pair<const std::string, AttrValue>> attrs) {
  Attrs all = attrs;
  all.Set("data_layout", "NHWC");
  return all;
}

const OpDef kQnnConv2d = {
    {.name = "qnn.conv2d",
     .doc = "nn.conv2d of quantized numbers: the sums of (data - input_zero_point) * (weight - "
            "weight_zero_point), where positions outside of data count as 0. They stand for sum * "
            "input_scale * weight_scale, but the scales have no effect here.",
     .inputs = ProductInputs("dimensions as data_layout says", "dimensions as kernel_layout says"),
     .attrs = ConvolutionAttrs(2, "zero points", "int32")},
    Constraints(),
    {.fusion = Fusion::kContraction,
     .layout = {LayoutRule::kNamed, "data_layout"},
     .weight = 1,
     .canonical_with_producers = MergePadding},
    InferQnnConv2d,
    LowerQnnConv2d,
    {Case({Values(I8({1, 1, 2, 2}), {1, 2, 3, 4}), Values(I8({1, 1, 2, 2}), {1, -1, 2, 0}),
           Scale(1), ZeroPoint(1), Scale(1), ZeroPoint(0)},
          {{"padding", List({0, 0, 1, 0})}}, {Values(I32({1, 1, 2, 1}), {3, -1})}),
     // The weight has zero point 1: (3 - 2) * (1 - 1) + (5 - 2) * (4 - 1).
     Case({Values(U8({1, 1, 1, 2}), {3, 5}), Values(U8({1, 1, 1, 2}), {1, 4}), Scale(1),
           ZeroPoint(2), Scale(1), ZeroPoint(1)},
          {}, {Values(I32({1, 1, 1, 1}), {9})}),
     ProductExample(I8({1, 5, 5, 3}), -3, I8({8, 3, 3, 3}), Scale(0.1), 0,
                    Nhwc({{"kernel_layout", "OHWI"}, {"padding", List({1, 1})}})),
     ProductExample(I8({1, 7, 6, 4}), 5, I8({1, 3, 3, 4}), Scales({0.1, 0.2, 0.3, 0.4}), 0,
                    Nhwc({{"kernel_layout", "IHWO"},
                          {"groups", 4},
                          {"strides", List({2, 2})},
                          {"padding", List({0, 0, 1, 1})}})),
     ProductExample(U8({1, 4, 4, 6}), 128, U8({8, 6, 1, 1}), Scale(0.1), 121,
                    Nhwc({{"kernel_layout", "OIHW"}})),
     ProductExample({{1, 3, 4, 4}, DType::Int(16)}, 0, I8({8, 3, 2, 2}), Scale(0.1), 0,
                    {{"out_dtype", "int64"}}),
     {.inputs = {I8({1, 2, 4, 4}), I8({3, 2, 3, 3}), ScaleType(), I32({}), ScaleType(), I32({})},
      .attrs = {{"padding", List({1, 1})}},
      .values = {Tensor(), Tensor(), Scale(1), Tensor(), Scale(1), Tensor()}}},
};
KILN_REGISTER_OP(kQnnConv2d);

}  // namespace
}  // namespace kiln
