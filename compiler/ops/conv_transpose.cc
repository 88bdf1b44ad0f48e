// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/matrix_product.h"
#include "compiler/ops/transposed_convolution.h"

namespace kiln {
namespace {

template <int kSpatial>
InferResult InferConvTranspose(const InferContext& c) {
  KILN_ASSIGN_OR_RETURN(const DType dtype, ProductType(c));
  KILN_ASSIGN_OR_RETURN(const Transposed t,
                        MakeTransposed(c.attrs, c.inputs[0], c.inputs[1], kSpatial));
  return OutputTypes({{t.conv.OutShape(), dtype}});
}

template <int kSpatial>
absl::Status LowerConvTranspose(StageBuilder& b) {
  KILN_ASSIGN_OR_RETURN(const Transposed t,
                        MakeTransposed(b.attrs(), b.input_type(0), b.input_type(1), kSpatial));
  const Access spread = Spread(b, b.Input(0), t, loop::Const(ComputeType(b.input_dtype(0)), 0));
  b.Output(0, Convolve(b, "conv", t.conv, Widened(b, spread),
                       ReadFlippedKernel(t.conv, WidenedInput(b, 1))));
  return absl::OkStatus();
}

template <int kSpatial>
OpDef ConvTranspose(std::vector<OpExample> examples) {
  const std::string name = absl::StrCat("nn.conv", kSpatial, "d"), space = SpatialLetters(kSpatial);
  return {{.name = name + "_transpose",
           .doc = absl::StrCat(
               "The transpose of ", name,
               " as a linear map: data[n, i, y] * weight[i, o, k] is added to out[n, o, y * stride "
               "- pad + k * dilation]. A dimension of the output has the extent (extent - 1) * "
               "stride + (taps - 1) * dilation + 1 + output_padding - padding. O and I of "
               "kernel_layout are the outputs per group and the channels of data. The default \"OI",
               space, "\" is read as \"IO", space, "\", as in Relay."),
           .inputs = {{"data", "dimensions as data_layout says"},
                      {"weight", "(channels, outputs / groups, taps…), or as kernel_layout says"}},
           .attrs = TransposedAttrs(kSpatial, "dtype of the sums; that of data if \"\"")},
          TransposedConstraints(kSpatial),
          {.fusion = Fusion::kContraction,
           .layout = {LayoutRule::kNamed, "data_layout"},
           .weight = 1,
           .channels = Channels::kTransposedLayouts,
           .quantized = kSpatial == 2 ? "qnn.conv2d_transpose" : nullptr,
           .canonical = SubpixelConvolution},
          InferConvTranspose<kSpatial>,
          LowerConvTranspose<kSpatial>,
          std::move(examples)};
}

const OpDef kConvTranspose[] = {
    ConvTranspose<1>({Case({Values(F32({1, 1, 2}), {1, 2}), Values(F32({1, 1, 3}), {1, 10, 100})},
                           {{"strides", 2}}, {Values(F32({1, 1, 5}), {1, 10, 102, 20, 200})}),
                      {.inputs = {F32({2, 5, 4}), F32({4, 2, 3})},
                       .attrs = {{"groups", 2}, {"data_layout", "NWC"}, {"padding", 1}}}}),
    ConvTranspose<2>(
        {Case({Values(F32({1, 1, 1, 2}), {1, 2}), Values(F32({1, 1, 1, 3}), {1, 10, 100})},
              {{"strides", List({1, 2})}}, {Values(F32({1, 1, 1, 5}), {1, 10, 102, 20, 200})}),
         Case({Values(F32({1, 1, 1, 2}), {1, 2}), Values(F32({1, 1, 1, 3}), {1, 10, 100})},
              {{"strides", List({1, 2})},
               {"padding", List({0, 1})},
               {"output_padding", List({0, 1})}},
              {Values(F32({1, 1, 1, 4}), {10, 102, 20, 200})}),
         {.inputs = {F32({2, 4, 3, 5}), F32({4, 3, 3, 2})},
          .attrs = {{"strides", List({2, 3})}, {"padding", List({1, 0, 0, 1})}}},
         {.inputs = {F32({1, 4, 4, 6}), F32({6, 2, 3, 3})},
          .attrs = {{"groups", 3},
                    {"data_layout", "NHWC"},
                    {"kernel_layout", "IOHW"},
                    {"strides", List({2, 2})},
                    {"dilation", List({1, 2})}}},
         {.inputs = {F32({1, 3, 3, 2}), F32({2, 2, 5, 2})},
          .attrs = {{"data_layout", "NHWC"}, {"kernel_layout", "HWOI"}}}}),
    ConvTranspose<3>(
        {Case({Values(F32({1, 1, 1, 2, 1}), {1, 2}), Values(F32({1, 1, 1, 3, 1}), {1, 10, 100})},
              {{"strides", List({1, 2, 1})}},
              {Values(F32({1, 1, 1, 5, 1}), {1, 10, 102, 20, 200})}),
         {.inputs = {F32({1, 2, 2, 3, 3}), F32({2, 3, 2, 2, 3})},
          .attrs = {{"strides", List({2, 1, 2})},
                    {"padding", List({0, 1, 1})},
                    {"output_padding", List({1, 0, 1})}}}}),
};
KILN_REGISTER_OPS(kConvTranspose);

}  // namespace
}  // namespace kiln
