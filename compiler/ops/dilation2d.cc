// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/window.h"

namespace kiln {
namespace {

struct DilationSetting {
  DataLayout layout;
  Window window;
};

// Reads the geometry. MakeWindow expects the attribute `dilations` under the name `dilation`.
absl::StatusOr<DilationSetting> ReadDilation(const Attrs& attrs, const TensorType& data,
                                             const TensorType& weight) {
  const std::string &layout = attrs.String("data_layout"), &kernel = attrs.String("kernel_layout");
  KILN_CONSTRAINT(2, (layout == "NCHW" && kernel == "IHW") || (layout == "NHWC" && kernel == "HWI"),
                  absl::StrCat("layouts ", layout, " and ", kernel),
                  "NCHW and IHW, or NHWC and HWI");
  KILN_CONSTRAINT(3, data.rank() == 4 && weight.rank() == 3,
                  absl::StrCat(ShapeToString(data.shape), " and ", ShapeToString(weight.shape)),
                  "ranks 4 and 3");
  const DataLayout order = DataLayoutOf(attrs, "data_layout", 2);
  const int64_t channels = weight.shape[order.channels_last ? 2 : 0];
  KILN_CONSTRAINT(3, data.shape[order.channel_dim()] == channels,
                  absl::StrCat(data.shape[order.channel_dim()], " channels of data"),
                  absl::StrCat(channels, " as the weight has"));
  const std::vector<int64_t> taps = order.channels_last
                                        ? std::vector<int64_t>{weight.shape[0], weight.shape[1]}
                                        : std::vector<int64_t>{weight.shape[1], weight.shape[2]};
  Attrs geometry = attrs;
  geometry.Set("dilation", attrs.Get("dilations"));
  KILN_ASSIGN_OR_RETURN(Window window,
                        MakeWindow(geometry, order.Space(data.shape), taps, false, 4));
  KILN_RETURN_IF_ERROR(CheckPadded(order, data, window, 5));
  return DilationSetting{order, std::move(window)};
}

InferResult InferDilation2d(const InferContext& c) {
  const TensorType &data = c.inputs[0], &weight = c.inputs[1];
  const DType dtype = c.attrs.DTypeOr("out_dtype", data.dtype);
  KILN_CONSTRAINT(
      1, IsNumeric(data.dtype) && data.dtype == weight.dtype && dtype == data.dtype,
      absl::StrCat(data.dtype.ToString(), ", ", weight.dtype.ToString(), " and ", dtype.ToString()),
      "numbers of one dtype");
  KILN_ASSIGN_OR_RETURN(const DilationSetting s, ReadDilation(c.attrs, data, weight));
  return OutputTypes(
      {{s.layout.Order(data.shape[0], data.shape[s.layout.channel_dim()], Outs(s.window)), dtype}});
}

absl::Status LowerDilation2d(StageBuilder& b) {
  KILN_ASSIGN_OR_RETURN(const DilationSetting s,
                        ReadDilation(b.attrs(), b.input_type(0), b.input_type(1)));
  const DType dtype = ComputeType(b.input_dtype(0));
  const Access x =
      Padded(b, b.Input(0), s.layout, b.input_shape(0), s.window, loop::Const(dtype, 0));
  b.Output(0, b.Reduce("dilation", b.output_shape(0), Taps(s.window), loop::Combine::kMax,
                       [&, weight = b.Input(1)](const Indices& i, const Indices& k) {
                         const Expr channel = i[s.layout.channel_dim()];
                         const Indices places = Places(s.window, s.layout.Space(i), k);
                         return x(s.layout.Order<Expr>(i[0], channel, places)) +
                                (s.layout.channels_last ? weight({k[0], k[1], channel})
                                                        : weight({channel, k[0], k[1]}));
                       }));
  return absl::OkStatus();
}

const OpDef kDilation2d = {
    {.name = "image.dilation2d",
     .doc =
         "Grayscale dilation: the largest value of data + weight in each window. Padding is zeros.",
     .inputs = {{"data", "numbers, as data_layout says"},
                {"weight", "dimensions as kernel_layout says"}},
     .attrs =
         {{"strides", AttrType::kInts, List({1, 1}), false,
           "positions from one window to the next"},
          {"padding", AttrType::kInts, List({0, 0}), false,
           "zeros around data: one number for all sides, (h, w), or (top, left, bottom, right)"},
          {"dilations", AttrType::kInts, List({1, 1}), false, "positions from one tap to the next"},
          {"data_layout", AttrType::kString, "NCHW", false, "NCHW or NHWC"},
          {"kernel_layout", AttrType::kString, "IHW", false, "IHW for NCHW, HWI for NHWC"},
          {"out_dtype", AttrType::kDType, "", false, "\"\" or the dtype of data"}}},
    {"data, weight and result hold numbers of the same dtype",
     "the layouts are NCHW and IHW, or NHWC and HWI",
     "data has rank 4, weight has rank 3, and both have the same number of channels",
     "taps, strides and dilations are positive, and padding is not negative",
     "at least one window fits into the padded data, which is a tensor within the limits"},
    {.fusion = Fusion::kReduction, .layout = LayoutRule::kFixed, .weight = 1},
    InferDilation2d,
    LowerDilation2d,
    {Case({Values(F32({1, 1, 2, 2}), {0.1, 0.2, 0.3, 0.4}),
           Values(F32({1, 2, 2}), {0.4, 0.3, 0.1, 0})},
          {}, {Values(F32({1, 1, 1, 1}), {0.5})}, 1e-6),
     Case({Values(I32({1, 2, 2, 1}), {-5, -4, -3, -2}), Values(I32({2, 1, 1}), {1, 2})},
          {{"data_layout", "NHWC"}, {"kernel_layout", "HWI"}, {"padding", List({1, 0})}},
          {Values(I32({1, 3, 2, 1}), {1, 1, -1, 0, 2, 2})}),
     {.inputs = {F32({2, 3, 7, 8}), F32({3, 2, 3})},
      .attrs = {{"strides", List({2, 1})},
                {"dilations", List({1, 2})},
                {"padding", List({1, 0, 2, 1})}}},
     {.inputs = {F16({1, 4, 4, 2}), F16({2, 2, 2})},
      .attrs = {{"data_layout", "NHWC"}, {"kernel_layout", "HWI"}}}},
};
KILN_REGISTER_OP(kDilation2d);

}  // namespace
}  // namespace kiln
