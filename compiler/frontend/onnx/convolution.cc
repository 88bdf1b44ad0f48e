// SPDX-License-Identifier: Apache-2.0
// Convolutions, transposed convolutions, and Col2Im, the sum of overlapping blocks.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/limits.h"
#include "compiler/base/status.h"
#include "compiler/frontend/common/functions.h"
#include "compiler/frontend/onnx/converter.h"
#include "compiler/frontend/onnx/formula.h"
#include "compiler/frontend/onnx/operands.h"
#include "compiler/frontend/onnx/products.h"
#include "compiler/frontend/onnx/windows.h"

namespace kiln::onnx_frontend {
namespace {

constexpr int64_t kMaxGroups = 1 << 24;
// Limit that keeps sums and products of extents within int64.
constexpr int64_t kMaxConvolvedExtent = int64_t{1} << 28;

// Returns the product of data and weight, plus input 2 of the node if present.
absl::StatusOr<ValueId> BiasedProduct(Converter& c, absl::string_view op, ValueId data,
                                      ValueId weight, Attrs attrs) {
  if (!c.HasInput(2)) return c.Op(op, {data, weight}, std::move(attrs));
  KILN_ASSIGN_OR_RETURN(ValueId bias, c.Input(2));
  KILN_ASSIGN_OR_RETURN(ValueId y, frontend::WideProduct(c, op, data, weight, std::move(attrs)));
  KILN_RETURN_IF_ERROR(CheckVector(c, bias, "B", c.type(y).shape[1]));
  KILN_ASSIGN_OR_RETURN(bias, c.Cast(bias, c.type(y).dtype));
  KILN_ASSIGN_OR_RETURN(y, c.Op("nn.bias_add", {y, bias}, {{"axis", 1}}));
  return c.Cast(y, c.type(data).dtype);
}

struct Geometry : Windows {
  std::vector<int64_t> output_padding;
};

// Computes the padding of a transposed convolution for the requested output extents. If an extent
// is larger than without padding, the rest is output padding.
absl::Status FitOutput(const Converter& c, const Shape& data, Geometry& g) {
  const size_t n = g.kernel.size();
  const std::string mode = c.String("auto_pad", "NOTSET");
  const bool same = mode == "SAME_UPPER" || mode == "SAME_LOWER";
  std::vector<int64_t> wanted = c.Ints("output_shape");
  if (wanted.size() == n + 2) wanted.erase(wanted.begin(), wanted.begin() + 2);
  if (wanted.empty() && !same) return absl::OkStatus();
  g.pads.assign(2 * n, 0);
  for (size_t i = 0; i < n; ++i) {
    const int64_t extent = data[i + 2];
    if (g.kernel[i] > kMaxConvolvedExtent || extent > kMaxConvolvedExtent || extent < 1) {
      return Wrong("an extent", absl::StrCat(extent), absl::StrCat("1 to ", kMaxConvolvedExtent));
    }
    if (wanted.size() == i) wanted.push_back(extent * g.strides[i]);
    if (wanted[i] < 1 || wanted[i] > kMaxConvolvedExtent * g.strides[i]) {
      return Wrong("output_shape", AttrValue::Ints(wanted).ToString(), "positive numbers");
    }
    const int64_t total = (extent - 1) * g.strides[i] + (g.kernel[i] - 1) * g.dilations[i] + 1 +
                          g.output_padding[i] - wanted[i];
    if (total < 0) g.output_padding[i] -= total;
    const int64_t pad = std::max<int64_t>(total, 0);
    g.pads[i] = mode == "SAME_UPPER" ? pad / 2 : pad - pad / 2;
    g.pads[i + n] = pad - g.pads[i];
  }
  if (wanted.size() != n) {
    return Wrong("output_shape", absl::StrCat(wanted.size(), " extents"), absl::StrCat(n));
  }
  return absl::OkStatus();
}

absl::StatusOr<Geometry> GeometryOf(const Converter& c, const Shape& data, const Shape& weight,
                                    bool transposed) {
  KILN_ASSIGN_OR_RETURN(Windows windows, WindowsOf(c, data, {weight.begin() + 2, weight.end()}));
  Geometry g{std::move(windows), {}};
  const size_t n = g.kernel.size();
  g.output_padding = c.Ints("output_padding", std::vector<int64_t>(n, 0));
  if (g.output_padding.size() != n ||
      std::any_of(g.output_padding.begin(), g.output_padding.end(),
                  [](int64_t v) { return v < 0 || v > kMaxConvolvedExtent; })) {
    return Wrong("output_padding", AttrValue::Ints(g.output_padding).ToString(),
                 absl::StrCat(n, " numbers, none negative"));
  }
  if (transposed) KILN_RETURN_IF_ERROR(FitOutput(c, data, g));
  return g;
}

absl::StatusOr<ValueId> ProductOf(Converter& c, ValueId x, ValueId w, bool transposed,
                                  const MakeProduct& make) {
  const Shape weight = c.type(w).shape;
  if (weight.size() < 3 || c.type(x).rank() != static_cast<int>(weight.size())) {
    return Wrong("weight", c.type(w).ToString(),
                 absl::StrCat("the rank of the data, ", c.type(x).rank(), ", and at least 3"));
  }
  KILN_ASSIGN_OR_RETURN(const Geometry g, GeometryOf(c, c.type(x).shape, weight, transposed));
  KILN_ASSIGN_OR_RETURN(const Spatial data, AsSpatial(c, x));
  KILN_ASSIGN_OR_RETURN(const Spatial filter, AsSpatial(c, w));
  const int64_t groups = c.Int("group", 1);
  if (groups < 1 || groups > kMaxGroups) {
    return Wrong("group", absl::StrCat(groups), absl::StrCat("1 to ", kMaxGroups));
  }
  Attrs attrs = {{"strides", AttrValue::Ints(data.Widened(g.strides, 1))},
                 {"padding", AttrValue::Ints(data.WidenedPads(g.pads))},
                 {"dilation", AttrValue::Ints(data.Widened(g.dilations, 1))},
                 {"groups", groups},
                 {"kernel_size", AttrValue::Ints(data.Widened(g.kernel, 1))}};
  if (transposed) {
    attrs.Set("output_padding", AttrValue::Ints(data.Widened(g.output_padding, 0)));
    attrs.Set("channels", weight[1] * groups);
    attrs.Set("kernel_layout", data.dims == 2 ? "IOHW" : "IODHW");
  } else {
    attrs.Set("channels", weight[0]);
  }
  const std::string op = data.Op("nn.conv") + (transposed ? "_transpose" : "");
  KILN_ASSIGN_OR_RETURN(ValueId y, make(op, data.data, filter.data, attrs));
  return Back(c, y, data);
}

absl::Status ConvolutionOf(Converter& c, bool transposed) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const ValueId w, c.Input(1));
  const auto with_bias = [&](absl::string_view op, ValueId data, ValueId weight, Attrs attrs) {
    return BiasedProduct(c, op, data, weight, std::move(attrs));
  };
  return c.Output(0, ProductOf(c, x, w, transposed, with_bias));
}

absl::Status Conv(Converter& c) { return ConvolutionOf(c, false); }
absl::Status ConvTranspose(Converter& c) { return ConvolutionOf(c, true); }

// An image divided into overlapping blocks.
struct Blocks {
  Shape image, padded;          // extents of the result, without and with padding
  std::vector<int64_t> counts;  // number of blocks along each dimension
  Windows windows;
};

absl::StatusOr<Blocks> BlocksOf(const Converter& c, const Shape& data) {
  Blocks b;
  KILN_ASSIGN_OR_RETURN(const Tensor image, c.ConstantInput(1, "image_shape"));
  KILN_ASSIGN_OR_RETURN(const Tensor block, c.ConstantInput(2, "block_shape"));
  b.image = image.ToInts();
  const Shape extents = block.ToInts();
  const size_t n = b.image.size();
  if (n == 0 || extents.size() != n) {
    return Wrong("block_shape", ShapeToString(extents),
                 absl::StrCat(n, " extents, as image_shape"));
  }
  for (const Shape& shape : {b.image, extents}) {
    for (int64_t extent : shape) {
      if (extent < 1 || extent > kMaxConvolvedExtent) {
        return Wrong("an extent", absl::StrCat(extent), absl::StrCat("1 to ", kMaxConvolvedExtent));
      }
    }
  }
  Shape whole = b.image;
  whole.insert(whole.begin(), {1, 1});
  KILN_ASSIGN_OR_RETURN(b.windows, WindowsOf(c, whole, extents));
  const Windows& w = b.windows;
  int64_t taps = 1, blocks = 1;
  for (size_t d = 0; d < n; ++d) {
    b.padded.push_back(b.image[d] + w.pads[d] + w.pads[d + n]);
    const int64_t room = b.padded[d] - (w.kernel[d] - 1) * w.dilations[d] - 1;
    if (room < 0) {
      return Wrong("block_shape", ShapeToString(extents), "one that fits into the image");
    }
    b.counts.push_back(room / w.strides[d] + 1);
    if (__builtin_mul_overflow(taps, w.kernel[d], &taps) ||
        __builtin_mul_overflow(blocks, b.counts[d], &blocks)) {
      return Wrong("image_shape", ShapeToString(b.image), "a tensor within the limits");
    }
  }
  if (data.size() != 3 || data[0] < 1 || data[1] < 1 || data[1] % taps != 0 || data[2] != blocks) {
    return Wrong("data", ShapeToString(data),
                 absl::StrCat("(n, a multiple of ", taps, ", ", blocks, ")"));
  }
  if (taps > kMaxTableElements / blocks) {
    return Wrong("blocks", absl::StrCat(blocks, " of ", taps, " places"),
                 absl::StrCat("at most ", kMaxTableElements, " places"));
  }
  return b;
}

// Returns the position in the padded image of each tap of each block, in the order of the data.
std::vector<int64_t> PlacesOf(const Blocks& b) {
  std::vector<int64_t> taps = {0}, blocks = {0};
  for (size_t d = 0; d < b.image.size(); ++d) {
    const auto extended = [&](const std::vector<int64_t>& of, int64_t count, int64_t step) {
      std::vector<int64_t> all;
      for (int64_t before : of) {
        for (int64_t i = 0; i < count; ++i) all.push_back(before * b.padded[d] + i * step);
      }
      return all;
    };
    taps = extended(taps, b.windows.kernel[d], b.windows.dilations[d]);
    blocks = extended(blocks, b.counts[d], b.windows.strides[d]);
  }
  std::vector<int64_t> places;
  for (int64_t tap : taps) {
    for (int64_t block : blocks) places.push_back(tap + block);
  }
  return places;
}

// Sums overlapping blocks of an image: (n, channels * taps, blocks) becomes (n, channels, …).
absl::Status Col2Im(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  const TensorType type = c.type(x);
  KILN_ASSIGN_OR_RETURN(const Blocks b, BlocksOf(c, type.shape));
  const std::vector<int64_t> places = PlacesOf(b);
  const auto count = static_cast<int64_t>(places.size());
  const int64_t images = type.shape[0] * (type.num_elements() / type.shape[0] / count);
  const TensorType padded = {{NumElements(b.padded), images}, type.dtype};
  KILN_RETURN_IF_ERROR(CheckTensorType(padded));
  Formula f(c);
  const ValueId empty = f("full", {f.Number(0, x)}, {{"shape", AttrValue::Ints(padded.shape)}});
  const ValueId at = c.Constant(Tensor::From<int64_t>({1, count}, DType::Int(64), places));
  ValueId y = f("scatter_nd", {empty, at, f.Transpose(f.Reshape(x, {images, count}), {1, 0})},
                {{"mode", "add"}});
  Shape shape = b.padded;
  shape.insert(shape.begin(), images);
  y = f.Reshape(f.Transpose(y, {1, 0}), shape);
  std::vector<int64_t> begin = {0}, end = {images};
  for (size_t d = 0; d < b.image.size(); ++d) {
    begin.push_back(b.windows.pads[d]);
    end.push_back(b.windows.pads[d] + b.image[d]);
  }
  y = f("strided_slice", {y}, {{"begin", AttrValue::Ints(begin)}, {"end", AttrValue::Ints(end)}});
  shape = b.image;
  shape.insert(shape.begin(), {type.shape[0], images / type.shape[0]});
  return f.Output(0, f.Reshape(y, shape));
}

constexpr OnnxOperator kConvolutionRows[] = {
    {"Col2Im", Col2Im},
    {"Conv", Conv},
    {"ConvTranspose", ConvTranspose},
};

}  // namespace

absl::StatusOr<ValueId> ConvolutionProduct(Converter& c, ValueId x, ValueId w,
                                           const MakeProduct& make) {
  return ProductOf(c, x, w, /*transposed=*/false, make);
}

absl::Span<const OnnxOperator> ConvolutionOperators() { return kConvolutionRows; }

}  // namespace kiln::onnx_frontend
