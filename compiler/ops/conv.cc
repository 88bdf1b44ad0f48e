// SPDX-License-Identifier: Apache-2.0
// nn.conv1d, nn.conv2d and nn.conv3d.
#include "compiler/ops/convolution.h"
#include "compiler/ops/matrix_product.h"
#include "compiler/ops/merge_padding.h"

namespace kiln {
namespace {

template <int kSpatial>
InferResult InferConv(const InferContext& c) {
  KILN_ASSIGN_OR_RETURN(const DType dtype, ProductType(c));
  KILN_ASSIGN_OR_RETURN(const Convolution conv,
                        MakeConvolution(c.attrs, c.inputs[0], c.inputs[1], kSpatial));
  return OutputTypes({{conv.OutShape(), dtype}});
}

template <int kSpatial>
absl::Status LowerConv(StageBuilder& b) {
  KILN_ASSIGN_OR_RETURN(const Convolution conv,
                        MakeConvolution(b.attrs(), b.input_type(0), b.input_type(1), kSpatial));
  const Access padded = Padded(b, b.Input(0), conv.layout, b.input_shape(0), conv.window,
                               loop::Const(ComputeType(b.input_dtype(0)), 0));
  b.Output(0, Convolve(b, "conv", conv, Widened(b, padded), ReadKernel(conv, WidenedInput(b, 1))));
  return absl::OkStatus();
}

constexpr absl::string_view kDoc =
    "Cross-correlation: out[n, o, y] = sum over i, k of data[n, i, y * stride - pad + k * "
    "dilation] * weight[o, i, k]. i runs over the channels of o's group, and positions outside of "
    "data are 0. In a depthwise convolution (as many groups as channels), the weight may also have "
    "the channels as O and the outputs per channel as I.";

Attrs Conv(std::initializer_list<std::pair<const std::string, AttrValue>> attrs) { return attrs; }

const OpDef kConv1d = {
    {.name = "nn.conv1d",
     .doc = std::string(kDoc),
     .inputs = {{"data", "(n, channels, w) or (n, w, channels)"},
                {"weight", "dimensions as kernel_layout says"}},
     .attrs = ConvolutionAttrs(1, "zeros", "that of data")},
    ConvolutionConstraints(),
    {.fusion = Fusion::kContraction,
     .layout = {LayoutRule::kNamed, "data_layout"},
     .weight = 1,
     .channels = Channels::kLayouts,
     .canonical_with_producers = MergePadding},
    InferConv<1>,
    LowerConv<1>,
    {Case({Values(F32({1, 1, 4}), {1, 2, 3, 4}), Values(F32({1, 1, 2}), {1, 10})},
          Conv({{"padding", List({1, 0})}}), {Values(F32({1, 1, 4}), {10, 21, 32, 43})}),
     {.inputs = {F32({2, 4, 9}), F32({6, 2, 3})},
      .attrs = Conv({{"groups", 2}, {"strides", List({2})}, {"padding", List({1})}})},
     {.inputs = {F32({1, 9, 4}), F32({3, 4, 5})},
      .attrs = Conv({{"data_layout", "NWC"}, {"kernel_layout", "WIO"}, {"dilation", List({2})}})}},
};

const OpDef kConv2d = {
    {.name = "nn.conv2d",
     .doc = std::string(kDoc),
     .inputs = {{"data", "(n, channels, h, w) or (n, h, w, channels)"},
                {"weight", "dimensions as kernel_layout says"}},
     .attrs = ConvolutionAttrs(2, "zeros", "that of data")},
    ConvolutionConstraints(),
    {.fusion = Fusion::kContraction,
     .layout = {LayoutRule::kNamed, "data_layout"},
     .weight = 1,
     .channels = Channels::kLayouts,
     .quantized = "qnn.conv2d",
     .canonical_with_producers = MergePadding},
    InferConv<2>,
    LowerConv<2>,
    {Case({Iota(F32({1, 1, 3, 3})), Values(F32({1, 1, 2, 2}), {1, 0, 0, -1})}, {},
          {Values(F32({1, 1, 2, 2}), {-4, -4, -4, -4})}),
     Case({Values(U8({1, 2, 2, 1}), {200, 1, 2, 3}), Values(U8({1, 1, 1, 2}), {100, 2})},
          Conv({{"data_layout", "NHWC"}, {"kernel_layout", "HWIO"}, {"out_dtype", "uint32"}}),
          {Values({{1, 2, 2, 2}, DType::UInt(32)}, {20000, 400, 100, 2, 200, 4, 300, 6})}),
     {.inputs = {F32({1, 3, 8, 8}), F32({4, 3, 3, 3})}, .attrs = Conv({{"padding", List({1, 1})}})},
     {.inputs = {F32({2, 7, 6, 3}), F32({3, 2, 3, 8})},
      .attrs = Conv({{"data_layout", "NHWC"},
                     {"kernel_layout", "HWIO"},
                     {"strides", List({2, 1})},
                     {"padding", List({1, 0, 2, 1})}})},
     {.inputs = {F32({1, 9, 9, 4}), F32({5, 3, 3, 4})},
      .attrs =
          Conv({{"data_layout", "NHWC"}, {"kernel_layout", "OHWI"}, {"dilation", List({2, 3})}})},
     {.inputs = {F32({1, 5, 5, 6}), F32({3, 3, 3, 4})},
      .attrs = Conv({{"data_layout", "NHWC"}, {"kernel_layout", "HWIO"}, {"groups", 2}})},
     {.inputs = {F32({1, 5, 5, 4}), F32({3, 3, 4, 1})},
      .attrs = Conv({{"data_layout", "NHWC"},
                     {"kernel_layout", "HWOI"},
                     {"groups", 4},
                     {"padding", List({1})}})},
     {.inputs = {F32({1, 5, 5, 4}), F32({3, 3, 4, 2})},
      .attrs = Conv({{"data_layout", "NHWC"}, {"kernel_layout", "HWOI"}, {"groups", 4}})},
     {.inputs = {F32({1, 4, 5, 5}), F32({8, 1, 3, 3})}, .attrs = Conv({{"groups", 4}})},
     {.inputs = {I8({1, 4, 4, 8}), I8({1, 1, 8, 16})},
      .attrs = Conv({{"data_layout", "NHWC"}, {"kernel_layout", "HWIO"}, {"out_dtype", "int32"}})},
     {.inputs = {F16({1, 2, 4, 4}), F16({2, 2, 3, 3})}}},
};

const OpDef kConv3d = {
    {.name = "nn.conv3d",
     .doc = std::string(kDoc),
     .inputs = {{"data", "(n, channels, d, h, w) or (n, d, h, w, channels)"},
                {"weight", "dimensions as kernel_layout says"}},
     .attrs = ConvolutionAttrs(3, "zeros", "that of data")},
    ConvolutionConstraints(),
    {.fusion = Fusion::kContraction,
     .layout = {LayoutRule::kNamed, "data_layout"},
     .weight = 1,
     .channels = Channels::kLayouts,
     .canonical_with_producers = MergePadding},
    InferConv<3>,
    LowerConv<3>,
    {Case({Iota(F32({1, 1, 2, 2, 2})), Values(F32({1, 1, 2, 1, 2}), {1, 0, 0, -1})}, {},
          {Values(F32({1, 1, 1, 2, 1}), {-5, -5})}),
     {.inputs = {F32({1, 2, 4, 5, 6}), F32({3, 2, 3, 2, 3})},
      .attrs = Conv({{"padding", List({1, 0, 1, 0, 1, 2})}, {"strides", List({1, 2, 1})}})},
     {.inputs = {F32({1, 5, 4, 6, 4}), F32({3, 2, 2, 2, 6})},
      .attrs = Conv({{"data_layout", "NDHWC"},
                     {"kernel_layout", "DHWIO"},
                     {"groups", 2},
                     {"dilation", List({2, 1, 3})}})}},
};

KILN_REGISTER_OP(kConv1d);
KILN_REGISTER_OP(kConv2d);
KILN_REGISTER_OP(kConv3d);

}  // namespace
}  // namespace kiln
