// SPDX-License-Identifier: Apache-2.0
// Convolutions, pooling, products and softmax.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/frontend/onnx/converter.h"

namespace kiln::onnx_frontend {
namespace {

constexpr int64_t kMaxGroups = 1 << 24;

int64_t DivideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

// The padding of a window operator: begins, then ends.
absl::StatusOr<std::vector<int64_t>> Padding(const Converter& c, const Shape& data,
                                             const std::vector<int64_t>& kernel,
                                             const std::vector<int64_t>& strides,
                                             const std::vector<int64_t>& dilations) {
  const size_t n = kernel.size();
  const std::string mode = c.String("auto_pad", "NOTSET");
  std::vector<int64_t> pads(2 * n, 0);
  if (mode == "NOTSET") {
    pads = c.Ints("pads", pads);
    if (pads.size() != 2 * n)
      return Wrong("pads", absl::StrCat(pads.size(), " values"), absl::StrCat(2 * n));
    for (int64_t pad : pads) {
      if (pad < 0) return Wrong("pads", absl::StrCat(pad), "0 or more");
    }
    return pads;
  }
  if (mode == "VALID") return pads;
  if (mode != "SAME_UPPER" && mode != "SAME_LOWER")
    return Wrong("auto_pad", mode, "NOTSET, VALID, SAME_UPPER or SAME_LOWER");
  for (size_t i = 0; i < n; ++i) {
    const int64_t extent = data[i + 2];
    const int64_t window = (kernel[i] - 1) * dilations[i] + 1;
    const int64_t total =
        std::max<int64_t>((DivideUp(extent, strides[i]) - 1) * strides[i] + window - extent, 0);
    pads[i] = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
    pads[i + n] = total - pads[i];
  }
  return pads;
}

absl::StatusOr<std::vector<int64_t>> Positive(const Converter& c, absl::string_view name,
                                              size_t n) {
  std::vector<int64_t> values = c.Ints(name, std::vector<int64_t>(n, 1));
  if (values.size() != n || std::any_of(values.begin(), values.end(),
                                        [](int64_t v) { return v <= 0 || v > (1 << 24); })) {
    return Wrong(name, AttrValue::Ints(values).ToString(), absl::StrCat(n, " positive numbers"));
  }
  return values;
}

// One spatial dimension is computed as two, the first of extent 1.
struct Spatial {
  ValueId data;
  bool was_1d;
};
absl::StatusOr<Spatial> As2d(Converter& c, ValueId data) {
  const Shape& shape = c.type(data).shape;
  if (shape.size() == 4) return Spatial{data, false};
  if (shape.size() != 3) {
    return absl::UnimplementedError(
        absl::StrCat("rank ", shape.size(), " data; ranks 3 and 4 are supported"));
  }
  KILN_ASSIGN_OR_RETURN(const ValueId wide, c.Reshape(data, {shape[0], shape[1], 1, shape[2]}));
  return Spatial{wide, true};
}
absl::StatusOr<ValueId> Back(Converter& c, ValueId value, bool was_1d) {
  if (!was_1d) return value;
  const Shape shape = c.type(value).shape;
  return c.Reshape(value, {shape[0], shape[1], shape[3]});
}

void Prepend(std::vector<int64_t>& values, int64_t value) { values.insert(values.begin(), value); }

absl::StatusOr<ValueId> AddBias(Converter& c, ValueId y, int input) {
  if (!c.HasInput(input)) return y;
  KILN_ASSIGN_OR_RETURN(const ValueId bias, c.Input(input));
  return c.Op("nn.bias_add", {y, bias}, {{"axis", 1}});
}

absl::Status ConvolutionOf(Converter& c, bool transposed) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const ValueId w, c.Input(1));
  const Shape& weight = c.type(w).shape;
  if (weight.size() < 3 || c.type(x).rank() != static_cast<int>(weight.size())) {
    return Wrong("weight", c.type(w).ToString(),
                 absl::StrCat("the rank of the data, ", c.type(x).rank(), ", and at least 3"));
  }
  std::vector<int64_t> kernel(weight.begin() + 2, weight.end());
  if (c.HasAttr("kernel_shape") && c.Ints("kernel_shape") != kernel) {
    return Wrong("kernel_shape", AttrValue::Ints(c.Ints("kernel_shape")).ToString(),
                 AttrValue::Ints(kernel).ToString());
  }
  const size_t n = kernel.size();
  KILN_ASSIGN_OR_RETURN(std::vector<int64_t> strides, Positive(c, "strides", n));
  KILN_ASSIGN_OR_RETURN(std::vector<int64_t> dilations, Positive(c, "dilations", n));
  std::vector<int64_t> output_padding = c.Ints("output_padding", std::vector<int64_t>(n, 0));
  std::vector<int64_t> pads;
  if (transposed && (c.HasAttr("output_shape") || c.String("auto_pad", "NOTSET") != "NOTSET")) {
    return absl::UnimplementedError(
        "output_shape and auto_pad of a transposed convolution; give pads instead");
  }
  KILN_ASSIGN_OR_RETURN(pads, Padding(c, c.type(x).shape, kernel, strides, dilations));
  KILN_ASSIGN_OR_RETURN(const Spatial data, As2d(c, x));
  KILN_ASSIGN_OR_RETURN(const Spatial filter, As2d(c, w));
  if (data.was_1d) {
    for (auto* v : {&kernel, &strides, &dilations}) Prepend(*v, 1);
    Prepend(output_padding, 0);
    pads = {0, pads[0], 0, pads[1]};
  }
  const int64_t groups = c.Int("group", 1);
  if (groups < 1 || groups > kMaxGroups) {
    return Wrong("group", absl::StrCat(groups), absl::StrCat("1 to ", kMaxGroups));
  }
  Attrs attrs = {{"strides", AttrValue::Ints(strides)},
                 {"padding", AttrValue::Ints(pads)},
                 {"dilation", AttrValue::Ints(dilations)},
                 {"groups", groups},
                 {"kernel_size", AttrValue::Ints(kernel)}};
  if (transposed) {
    attrs.Set("output_padding", AttrValue::Ints(output_padding));
    attrs.Set("channels", weight[1] * groups);
    attrs.Set("kernel_layout", "IOHW");
  } else {
    attrs.Set("channels", weight[0]);
  }
  KILN_ASSIGN_OR_RETURN(ValueId y, c.Op(transposed ? "nn.conv2d_transpose" : "nn.conv2d",
                                        {data.data, filter.data}, attrs));
  KILN_ASSIGN_OR_RETURN(y, AddBias(c, y, 2));
  KILN_ASSIGN_OR_RETURN(y, Back(c, y, data.was_1d));
  c.SetOutput(0, y);
  return absl::OkStatus();
}

absl::Status Conv(Converter& c) { return ConvolutionOf(c, false); }
absl::Status ConvTranspose(Converter& c) { return ConvolutionOf(c, true); }

absl::Status PoolOf(Converter& c, bool average) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  if (c.node().output_size() > 1 && !c.node().output(1).empty())
    return absl::UnimplementedError("the second output, Indices");
  std::vector<int64_t> kernel = c.Ints("kernel_shape");
  const size_t n = kernel.size();
  if (static_cast<int>(n) + 2 != c.type(x).rank()) {
    return Wrong("kernel_shape", absl::StrCat(n, " extents"), absl::StrCat(c.type(x).rank() - 2));
  }
  KILN_ASSIGN_OR_RETURN(std::vector<int64_t> strides, Positive(c, "strides", n));
  KILN_ASSIGN_OR_RETURN(std::vector<int64_t> dilations, Positive(c, "dilations", n));
  KILN_ASSIGN_OR_RETURN(std::vector<int64_t> pads,
                        Padding(c, c.type(x).shape, kernel, strides, dilations));
  KILN_ASSIGN_OR_RETURN(const Spatial data, As2d(c, x));
  if (data.was_1d) {
    for (auto* v : {&kernel, &strides, &dilations}) Prepend(*v, 1);
    pads = {0, pads[0], 0, pads[1]};
  }
  Attrs attrs = {{"pool_size", AttrValue::Ints(kernel)},
                 {"strides", AttrValue::Ints(strides)},
                 {"dilation", AttrValue::Ints(dilations)},
                 {"padding", AttrValue::Ints(pads)},
                 {"ceil_mode", c.Int("ceil_mode", 0) != 0}};
  if (average) attrs.Set("count_include_pad", c.Int("count_include_pad", 0) != 0);
  KILN_ASSIGN_OR_RETURN(ValueId y,
                        c.Op(average ? "nn.avg_pool2d" : "nn.max_pool2d", {data.data}, attrs));
  KILN_ASSIGN_OR_RETURN(y, Back(c, y, data.was_1d));
  c.SetOutput(0, y);
  return absl::OkStatus();
}

absl::Status MaxPool(Converter& c) { return PoolOf(c, false); }
absl::Status AveragePool(Converter& c) { return PoolOf(c, true); }

absl::Status GlobalPoolOf(Converter& c, absl::string_view relay) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const Spatial data, As2d(c, x));
  KILN_ASSIGN_OR_RETURN(ValueId y, c.Op(relay, {data.data}));
  KILN_ASSIGN_OR_RETURN(y, Back(c, y, data.was_1d));
  c.SetOutput(0, y);
  return absl::OkStatus();
}

absl::Status GlobalAveragePool(Converter& c) { return GlobalPoolOf(c, "nn.global_avg_pool2d"); }
absl::Status GlobalMaxPool(Converter& c) { return GlobalPoolOf(c, "nn.global_max_pool2d"); }

absl::StatusOr<ValueId> Transposed(Converter& c, ValueId x) {
  std::vector<int64_t> axes;
  for (int i = 0; i < c.type(x).rank(); ++i) axes.push_back(i);
  std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
  return c.Op("transpose", {x}, {{"axes", AttrValue::Ints(axes)}});
}

absl::StatusOr<ValueId> Scaled(Converter& c, ValueId x, double factor) {
  if (factor == 1) return x;
  return c.Op("multiply", {x, c.Constant(Tensor::Scalar(c.type(x).dtype, factor))});
}

// alpha * A' * B' + beta * C
absl::Status Gemm(Converter& c) {
  KILN_ASSIGN_OR_RETURN(ValueId a, c.Input(0));
  KILN_ASSIGN_OR_RETURN(ValueId b, c.Input(1));
  if (c.type(a).rank() != 2 || c.type(b).rank() != 2) {
    return Wrong("A and B", c.type(a).ToString() + " and " + c.type(b).ToString(), "two matrices");
  }
  if (c.Int("transA", 0) != 0) {
    KILN_ASSIGN_OR_RETURN(a, Transposed(c, a));
  }
  // nn.dense takes its weight as [units, in].
  if (c.Int("transB", 0) == 0) {
    KILN_ASSIGN_OR_RETURN(b, Transposed(c, b));
  }
  KILN_ASSIGN_OR_RETURN(ValueId y, c.Op("nn.dense", {a, b}, {{"units", c.type(b).shape[0]}}));
  KILN_ASSIGN_OR_RETURN(y, Scaled(c, y, c.Float("alpha", 1)));
  if (c.HasInput(2)) {
    KILN_ASSIGN_OR_RETURN(ValueId bias, c.Input(2));
    KILN_ASSIGN_OR_RETURN(bias, Scaled(c, bias, c.Float("beta", 1)));
    KILN_ASSIGN_OR_RETURN(y, c.Op("add", {y, bias}));
  }
  c.SetOutput(0, y);
  return absl::OkStatus();
}

// Products of matrices in the last two dimensions; others broadcast.
absl::Status MatMul(Converter& c) {
  KILN_ASSIGN_OR_RETURN(ValueId a, c.Input(0));
  KILN_ASSIGN_OR_RETURN(ValueId b, c.Input(1));
  Shape sa = c.type(a).shape, sb = c.type(b).shape;
  if (sa.empty() || sb.empty()) return Wrong("operands", "a scalar", "rank 1 or more");
  const bool vector_a = sa.size() == 1, vector_b = sb.size() == 1;
  if (vector_a) sa.insert(sa.begin(), 1);
  if (vector_b) sb.push_back(1);
  KILN_ASSIGN_OR_RETURN(a, c.Reshape(a, sa));
  KILN_ASSIGN_OR_RETURN(b, c.Reshape(b, sb));
  if (sa.back() != sb[sb.size() - 2]) {
    return Wrong("operands", ShapeToString(sa) + " and " + ShapeToString(sb),
                 "inner extents that agree");
  }
  ValueId y;
  Shape out;
  if (sb.size() == 2) {
    // One matrix on the right: rows of all batches together.
    out.assign(sa.begin(), sa.end() - 1);
    out.push_back(sb[1]);
    KILN_ASSIGN_OR_RETURN(
        a, c.Reshape(a, {NumElements(out) / std::max<int64_t>(sb[1], 1), sa.back()}));
    KILN_ASSIGN_OR_RETURN(b, Transposed(c, b));
    KILN_ASSIGN_OR_RETURN(y, c.Op("nn.dense", {a, b}, {{"units", sb[1]}}));
  } else {
    const size_t rank = std::max(sa.size(), sb.size());
    while (sa.size() < rank) sa.insert(sa.begin(), 1);
    while (sb.size() < rank) sb.insert(sb.begin(), 1);
    for (size_t i = 0; i + 2 < rank; ++i) {
      if (sa[i] != sb[i] && sa[i] != 1 && sb[i] != 1) {
        return Wrong("operands", ShapeToString(sa) + " and " + ShapeToString(sb),
                     "batch extents that broadcast");
      }
      out.push_back(std::max(sa[i], sb[i]));
    }
    const auto flat = [&](ValueId v, const Shape& shape) -> absl::StatusOr<ValueId> {
      Shape full = out;
      full.insert(full.end(), shape.end() - 2, shape.end());
      KILN_ASSIGN_OR_RETURN(v, c.Reshape(v, shape));
      if (full != shape) {
        KILN_ASSIGN_OR_RETURN(v, c.Op("broadcast_to", {v}, {{"shape", AttrValue::Ints(full)}}));
      }
      return c.Reshape(v, {NumElements(out), shape[rank - 2], shape[rank - 1]});
    };
    KILN_ASSIGN_OR_RETURN(a, flat(a, sa));
    KILN_ASSIGN_OR_RETURN(b, flat(b, sb));
    KILN_ASSIGN_OR_RETURN(y, c.Op("nn.batch_matmul", {a, b}, {{"transpose_b", false}}));
    out.push_back(sa[rank - 2]);
    out.push_back(sb[rank - 1]);
  }
  if (vector_a) out.erase(out.end() - 2);
  if (vector_b) out.pop_back();
  KILN_ASSIGN_OR_RETURN(y, c.Reshape(y, out));
  c.SetOutput(0, y);
  return absl::OkStatus();
}

// Up to opset 12 softmax is taken over all dimensions from `axis` on, flattened; from 13 on over
// one.
absl::Status SoftmaxOf(Converter& c, absl::string_view relay) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  const Shape shape = c.type(x).shape;
  KILN_ASSIGN_OR_RETURN(const int64_t axis, NormalAxis(c.Int("axis", c.opset() < 13 ? 1 : -1),
                                                       std::max(c.type(x).rank(), 1)));
  ValueId y = x;
  if (c.opset() < 13 && axis + 1 < static_cast<int64_t>(shape.size()) &&
      NumElements({shape.data() + axis + 1, shape.size() - static_cast<size_t>(axis) - 1}) != 1) {
    const int64_t outer = NumElements({shape.data(), static_cast<size_t>(axis)});
    const int64_t inner =
        NumElements({shape.data() + axis, shape.size() - static_cast<size_t>(axis)});
    KILN_ASSIGN_OR_RETURN(y, c.Reshape(y, {outer, inner}));
    KILN_ASSIGN_OR_RETURN(y, c.Op(relay, {y}, {{"axis", 1}}));
    KILN_ASSIGN_OR_RETURN(y, c.Reshape(y, shape));
  } else {
    KILN_ASSIGN_OR_RETURN(y, c.Op(relay, {y}, {{"axis", axis}}));
  }
  c.SetOutput(0, y);
  return absl::OkStatus();
}

absl::Status Softmax(Converter& c) { return SoftmaxOf(c, "nn.softmax"); }
absl::Status LogSoftmax(Converter& c) { return SoftmaxOf(c, "nn.log_softmax"); }

absl::Status DepthToSpace(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const ValueId y, c.Op("nn.depth_to_space", {x},
                                              {{"block_size", c.Int("blocksize", 1)},
                                               {"mode", c.String("mode", "DCR")}}));
  c.SetOutput(0, y);
  return absl::OkStatus();
}

absl::Status SpaceToDepth(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const ValueId y,
                        c.Op("nn.space_to_depth", {x}, {{"block_size", c.Int("blocksize", 1)}}));
  c.SetOutput(0, y);
  return absl::OkStatus();
}

constexpr OnnxOperator kRows[] = {
    {"AveragePool", AveragePool},
    {"Conv", Conv},
    {"ConvTranspose", ConvTranspose},
    {"DepthToSpace", DepthToSpace},
    {"Gemm", Gemm},
    {"GlobalAveragePool", GlobalAveragePool},
    {"GlobalMaxPool", GlobalMaxPool},
    {"LogSoftmax", LogSoftmax},
    {"MatMul", MatMul},
    {"MaxPool", MaxPool},
    {"Softmax", Softmax},
    {"SpaceToDepth", SpaceToDepth},
};

}  // namespace

absl::Span<const OnnxOperator> NeuralOperators() { return kRows; }

}  // namespace kiln::onnx_frontend
