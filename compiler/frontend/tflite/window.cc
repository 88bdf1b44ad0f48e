// SPDX-License-Identifier: Apache-2.0
// Convolutions and pooling of channels-last data.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/base/align.h"
#include "compiler/base/status.h"
#include "compiler/frontend/tflite/converter.h"
#include "compiler/frontend/tflite/quantized.h"
#include "compiler/frontend/tflite/quantized_elementwise.h"

namespace kiln::tflite_frontend {
namespace {

namespace schema = tflite_schema;
using tflite_schema::BuiltinOperator;

constexpr int64_t kMaxStep = 1 << 24;

// Height, then width.
struct Window {
  schema::Padding padding;
  std::vector<int64_t> kernel, strides, dilation = {1, 1};
};

absl::Status CheckWindow(const Window& window) {
  for (const auto* values : {&window.kernel, &window.strides, &window.dilation}) {
    for (int64_t value : *values) {
      if (value < 1 || value > kMaxStep) {
        return Wrong("window, strides and dilation", absl::StrCat(value),
                     absl::StrCat("1 to ", kMaxStep));
      }
    }
  }
  if (window.padding == schema::Padding::SAME || window.padding == schema::Padding::VALID) {
    return absl::OkStatus();
  }
  return Wrong("padding", absl::StrCat(static_cast<int>(window.padding)), "SAME or VALID");
}

// Returns the padding before both dimensions, then after them. With SAME, the number of windows is
// the extent divided by the stride, rounded up. An odd position is added after the data.
std::vector<int64_t> Padding(const Window& window, int64_t height, int64_t width) {
  std::vector<int64_t> pads(4, 0);
  if (window.padding == schema::Padding::VALID) return pads;
  const int64_t extents[] = {height, width};
  for (size_t i = 0; i < 2; ++i) {
    const int64_t taps = (window.kernel[i] - 1) * window.dilation[i] + 1;
    const int64_t windows = DivideUp(extents[i], window.strides[i]);
    const int64_t total =
        std::max<int64_t>((windows - 1) * window.strides[i] + taps - extents[i], 0);
    pads[i] = total / 2;
    pads[i + 2] = total - total / 2;
  }
  return pads;
}

absl::Status CheckRank4(const Converter& c, absl::string_view what, ValueId value) {
  if (c.type(value).rank() == 4) return absl::OkStatus();
  return Wrong(what, c.type(value).ToString(), "rank 4");
}

// The operands of a convolution: data and a weight (…, height, width, …), both of rank 4.
struct ConvolutionInputs {
  ValueId x, w;
  Shape data, weight;
  Window window;
};

template <typename Options>
absl::StatusOr<ConvolutionInputs> InputsOf(Converter& c, const Options& options) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const ValueId w, c.Input(1));
  KILN_RETURN_IF_ERROR(CheckRank4(c, "data", x));
  KILN_RETURN_IF_ERROR(CheckRank4(c, "weight", w));
  Window window{.padding = options.padding(),
                .kernel = {c.type(w).shape[1], c.type(w).shape[2]},
                .strides = {options.stride_h(), options.stride_w()},
                .dilation = {options.dilation_h_factor(), options.dilation_w_factor()}};
  KILN_RETURN_IF_ERROR(CheckWindow(window));
  return ConvolutionInputs{x, w, c.type(x).shape, c.type(w).shape, std::move(window)};
}

// The weight of a depthwise convolution is (1, height, width, channels).
absl::Status Convolution(Converter& c, const ConvolutionInputs& in, int64_t groups,
                         int64_t channels, bool depthwise, bool wide_sums,
                         schema::Activation activation) {
  const Window& window = in.window;
  const ProductOperands operands = {.x = in.x,
                                    .weight = in.w,
                                    .x_input = 0,
                                    .weight_input = 1,
                                    .bias_input = 2,
                                    .wide_sums = wide_sums,
                                    .channel_axis = depthwise ? 3 : 0};
  return c.Output(0, Product(c, "conv2d", operands,
                             {{"strides", AttrValue::Ints(window.strides)},
                              {"padding", AttrValue::Ints(Padding(window, in.data[1], in.data[2]))},
                              {"dilation", AttrValue::Ints(window.dilation)},
                              {"groups", groups},
                              {"channels", channels},
                              {"kernel_size", AttrValue::Ints(window.kernel)},
                              {"data_layout", "NHWC"},
                              {"kernel_layout", depthwise ? "IHWO" : "OHWI"}},
                             activation));
}

absl::Status Conv2d(Converter& c) {
  const auto& options = c.Options<schema::Conv2DOptions>();
  KILN_ASSIGN_OR_RETURN(const ConvolutionInputs in, InputsOf(c, options));
  // A weight with fewer channels than the data belongs to a grouped convolution.
  const int64_t channels = in.data[3];
  if (in.weight[3] < 1 || channels % in.weight[3] != 0) {
    return Wrong("weight", c.type(in.w).ToString(),
                 absl::StrCat("(outputs, height, width, a divisor of ", channels, " channels)"));
  }
  return Convolution(c, in, std::max<int64_t>(channels / in.weight[3], 1), in.weight[0],
                     /*depthwise=*/false,
                     options.quantized_bias_type() != schema::TensorType::INT32,
                     options.fused_activation_function());
}

// The weight is (1, height, width, channels * multiplier).
absl::Status DepthwiseConv2d(Converter& c) {
  const auto& options = c.Options<schema::DepthwiseConv2DOptions>();
  KILN_ASSIGN_OR_RETURN(const ConvolutionInputs in, InputsOf(c, options));
  const int64_t channels = in.data[3];
  if (in.weight[0] != 1 || channels < 1 || in.weight[3] < 1 || in.weight[3] % channels != 0) {
    return Wrong("weight", c.type(in.w).ToString(),
                 absl::StrCat("(1, height, width, a multiple of ", channels, " channels)"));
  }
  return Convolution(c, in, channels, in.weight[3], /*depthwise=*/true, /*wide_sums=*/true,
                     options.fused_activation_function());
}

// Inputs: the shape of the result, the weight (outputs, height, width, channels), data, bias.
absl::Status TransposeConv(Converter& c) {
  const auto& options = c.Options<schema::TransposeConvOptions>();
  KILN_ASSIGN_OR_RETURN(const std::vector<int64_t> out, c.IntsInput(0, "the shape of the result"));
  KILN_ASSIGN_OR_RETURN(const ValueId w, c.Input(1));
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(2));
  KILN_RETURN_IF_ERROR(CheckRank4(c, "data", x));
  KILN_RETURN_IF_ERROR(CheckRank4(c, "weight", w));
  const Shape data = c.type(x).shape, weight = c.type(w).shape;
  const Window window{.padding = options.padding(),
                      .kernel = {weight[1], weight[2]},
                      .strides = {options.stride_h(), options.stride_w()}};
  KILN_RETURN_IF_ERROR(CheckWindow(window));
  if (out.size() != 4 || out[0] != data[0] || out[3] != weight[0] || out[1] < 1 || out[2] < 1 ||
      out[1] > kMaxStep || out[2] > kMaxStep || data[1] > kMaxStep || data[2] > kMaxStep) {
    return Wrong("the shape of the result", ShapeToString(out),
                 absl::StrCat("(", data[0], ", height, width, ", weight[0], ")"));
  }
  // The padding before the data is that of the convolution that is transposed. The padding after it
  // fills up the requested shape.
  std::vector<int64_t> pads = Padding(window, out[1], out[2]);
  std::vector<int64_t> more(2, 0);
  for (size_t i = 0; i < 2; ++i) {
    const int64_t full = (data[i + 1] - 1) * window.strides[i] + window.kernel[i];
    const int64_t behind = full - pads[i] - out[i + 1];
    pads[i + 2] = std::max<int64_t>(behind, 0);
    more[i] = std::max<int64_t>(-behind, 0);
    if (more[i] >= window.strides[i]) {
      return Wrong("the shape of the result", ShapeToString(out), "what the windows reach");
    }
  }
  const ProductOperands operands = {
      .x = x, .weight = w, .x_input = 2, .weight_input = 1, .bias_input = 3, .wide_sums = true};
  return c.Output(0, Product(c, "conv2d_transpose", operands,
                             {{"strides", AttrValue::Ints(window.strides)},
                              {"padding", AttrValue::Ints(pads)},
                              {"output_padding", AttrValue::Ints(more)},
                              {"channels", weight[0]},
                              {"kernel_size", AttrValue::Ints(window.kernel)},
                              {"data_layout", "NHWC"},
                              {"kernel_layout", "OHWI"}},
                             options.fused_activation_function()));
}

absl::StatusOr<Attrs> PoolAttrs(Converter& c, ValueId x) {
  const auto& options = c.Options<schema::Pool2DOptions>();
  KILN_RETURN_IF_ERROR(CheckRank4(c, "data", x));
  const Window window{.padding = options.padding(),
                      .kernel = {options.filter_height(), options.filter_width()},
                      .strides = {options.stride_h(), options.stride_w()}};
  KILN_RETURN_IF_ERROR(CheckWindow(window));
  const Shape data = c.type(x).shape;
  return Attrs{{"pool_size", AttrValue::Ints(window.kernel)},
               {"strides", AttrValue::Ints(window.strides)},
               {"padding", AttrValue::Ints(Padding(window, data[1], data[2]))},
               {"layout", "NHWC"}};
}

absl::Status Pool(Converter& c, bool average) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(Attrs attrs, PoolAttrs(c, x));
  KILN_ASSIGN_OR_RETURN(const std::optional<Quantization> q, OutputQuantization(c, 0));
  const auto activation = c.Options<schema::Pool2DOptions>().fused_activation_function();
  ValueId y = kNoId;
  if (average && q.has_value()) {
    KILN_ASSIGN_OR_RETURN(y, QnnUnary(c, "qnn.avg_pool2d", x, std::move(attrs)));
  } else {
    KILN_ASSIGN_OR_RETURN(y,
                          c.Op(average ? "nn.avg_pool2d" : "nn.max_pool2d", {x}, std::move(attrs)));
  }
  return c.Output(
      0, q.has_value() ? ActivatedQuantized(c, y, *q, activation) : c.Activated(y, activation));
}

absl::Status AveragePool(Converter& c) { return Pool(c, true); }
absl::Status MaxPool(Converter& c) { return Pool(c, false); }

// The square root of the mean of squares.
absl::Status L2Pool(Converter& c) {
  KILN_ASSIGN_OR_RETURN(ValueId y, c.Input(0));
  KILN_ASSIGN_OR_RETURN(y, c.Op("multiply", {y, y}));
  KILN_ASSIGN_OR_RETURN(Attrs attrs, PoolAttrs(c, y));
  KILN_ASSIGN_OR_RETURN(y, c.Op("nn.avg_pool2d", {y}, std::move(attrs)));
  KILN_ASSIGN_OR_RETURN(y, c.Op("sqrt", {y}));
  return c.Output(0,
                  c.Activated(y, c.Options<schema::Pool2DOptions>().fused_activation_function()));
}

absl::Status Resize(Converter& c, const char* method, const char* mode, const char* rounding) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const std::vector<int64_t> size, c.IntsInput(1, "the size"));
  return c.Output(0, c.Op("image.resize2d", {x},
                          {{"size", AttrValue::Ints(size)},
                           {"layout", "NHWC"},
                           {"method", method},
                           {"coordinate_transformation_mode", mode},
                           {"rounding_method", rounding}}));
}

absl::Status ResizeBilinear(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const std::optional<Quantization> q, InputQuantization(c, 0));
  if (q.has_value()) return QuantizedResizeBilinear(c);
  const auto& options = c.Options<schema::ResizeBilinearOptions>();
  return Resize(c, "linear",
                options.align_corners()        ? "align_corners"
                : options.half_pixel_centers() ? "half_pixel"
                                               : "asymmetric",
                "round");
}

absl::Status ResizeNearestNeighbor(Converter& c) {
  const auto& options = c.Options<schema::ResizeNearestNeighborOptions>();
  if (options.align_corners()) return Resize(c, "nearest_neighbor", "align_corners", "round");
  return Resize(c, "nearest_neighbor",
                options.half_pixel_centers() ? "tf_half_pixel_for_nn" : "asymmetric", "floor");
}

constexpr TfliteOperator kWindowRows[] = {
    {BuiltinOperator::AVERAGE_POOL_2D, AveragePool, nullptr, Quantised::kComputes},
    {BuiltinOperator::CONV_2D, Conv2d, nullptr, Quantised::kComputes},
    {BuiltinOperator::DEPTHWISE_CONV_2D, DepthwiseConv2d, nullptr, Quantised::kComputes},
    {BuiltinOperator::L2_POOL_2D, L2Pool},
    {BuiltinOperator::MAX_POOL_2D, MaxPool, nullptr, Quantised::kOneScale},
    {BuiltinOperator::RESIZE_BILINEAR, ResizeBilinear, nullptr, Quantised::kMoves},
    {BuiltinOperator::RESIZE_NEAREST_NEIGHBOR, ResizeNearestNeighbor, nullptr, Quantised::kMoves},
    {BuiltinOperator::TRANSPOSE_CONV, TransposeConv, nullptr, Quantised::kComputes},
};

}  // namespace

absl::Span<const TfliteOperator> WindowOperators() { return kWindowRows; }

}  // namespace kiln::tflite_frontend
