// SPDX-License-Identifier: Apache-2.0
// Pooling over windows and over whole channels, and unpooling.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/frontend/onnx/converter.h"
#include "compiler/frontend/onnx/formula.h"
#include "compiler/frontend/onnx/windows.h"

namespace kiln::onnx_frontend {
namespace {

Attrs PoolAttrs(const Windows& pool, const Spatial& data, bool ceil_mode) {
  return {{"pool_size", AttrValue::Ints(data.Widened(pool.kernel, 1))},
          {"strides", AttrValue::Ints(data.Widened(pool.strides, 1))},
          {"dilation", AttrValue::Ints(data.Widened(pool.dilations, 1))},
          {"padding", AttrValue::Ints(data.WidenedPads(pool.pads))},
          {"ceil_mode", ceil_mode}};
}

absl::StatusOr<Windows> PoolOf(const Converter& c, const TensorType& x) {
  const size_t n = c.Ints("kernel_shape").size();
  if (static_cast<int>(n) + 2 != x.rank()) {
    return Wrong("kernel_shape", absl::StrCat(n, " extents"), absl::StrCat(x.rank() - 2));
  }
  KILN_ASSIGN_OR_RETURN(std::vector<int64_t> kernel, Positive(c, "kernel_shape", n));
  return WindowsOf(c, x.shape, std::move(kernel));
}

// Converts indices into images from row-major to column-major order: w * height + h for (h, w).
absl::StatusOr<ValueId> ColumnMajor(Converter& c, ValueId places, const Shape& data) {
  if (data.size() != 4) return absl::UnimplementedError("storage_order = 1 of three dimensions");
  Formula f(c);
  const auto number = [&](int64_t v) {
    return c.Constant(Tensor::From<int64_t>({}, DType::Int(64), {v}));
  };
  const ValueId place = f("floor_mod", {places, number(data[2] * data[3])});
  const ValueId row = f("floor_divide", {place, number(data[3])});
  const ValueId column = f("floor_mod", {place, number(data[3])});
  const ValueId by_column = f("add", {f("multiply", {column, number(data[2])}), row});
  const ValueId y = f("add", {f("subtract", {places, place}), by_column});
  if (!f.ok()) return f.status();
  return y;
}

absl::Status MaxPool(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const Windows pool, PoolOf(c, c.type(x)));
  KILN_RETURN_IF_ERROR(CheckPadsOfPool(pool));
  KILN_ASSIGN_OR_RETURN(const Spatial data, AsSpatial(c, x));
  const Attrs attrs = PoolAttrs(pool, data, c.Int("ceil_mode", 0) != 0);
  if (c.node().output_size() > 1 && !c.node().output(1).empty()) {
    KILN_ASSIGN_OR_RETURN(ValueId places, c.Op("nn.max_pool_indices", {data.data}, attrs));
    if (c.Int("storage_order", 0) != 0) {
      KILN_ASSIGN_OR_RETURN(places, ColumnMajor(c, places, c.type(data.data).shape));
    }
    KILN_ASSIGN_OR_RETURN(places, Back(c, places, data));
    c.SetOutput(1, places);
  }
  KILN_ASSIGN_OR_RETURN(ValueId y, c.Op(data.Op("nn.max_pool"), {data.data}, attrs));
  KILN_ASSIGN_OR_RETURN(y, Back(c, y, data));
  c.SetOutput(0, y);
  return absl::OkStatus();
}

absl::Status AveragePool(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const Windows pool, PoolOf(c, c.type(x)));
  const bool counts_pads = c.Int("count_include_pad", 0) != 0;
  if (!counts_pads) KILN_RETURN_IF_ERROR(CheckPadsOfPool(pool));
  KILN_ASSIGN_OR_RETURN(const Spatial data, AsSpatial(c, x));
  Attrs attrs = PoolAttrs(pool, data, c.Int("ceil_mode", 0) != 0);
  attrs.Set("count_include_pad", counts_pads);
  KILN_ASSIGN_OR_RETURN(const ValueId y, c.Op(data.Op("nn.avg_pool"), {data.data}, attrs));
  return c.Output(0, Back(c, y, data));
}

// Raised computes |x| to the power p, and Root is its inverse.
ValueId Raised(Formula& f, ValueId x, double p) {
  return p == 2 ? f("multiply", {x, x}) : f("power", {f("abs", {x}), f.Number(p, x)});
}
ValueId Root(Formula& f, ValueId x, double p) {
  return p == 2 ? f("sqrt", {x}) : f("power", {x, f.Number(1 / p, x)});
}

// The exponent is an integer from opset 2 on.
double Exponent(const Converter& c) {
  return c.opset() < 2 ? c.Float("p", 2) : static_cast<double>(c.Int("p", 2));
}

// The p-norm of every window: the mean of the powers, with zeros as padding, times the window size.
absl::Status LpPool(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(Windows pool, PoolOf(c, c.type(x)));
  const double p = Exponent(c);
  if (!(p > 0)) return Wrong("p", absl::StrCat(p), "a positive number");
  const size_t n = pool.kernel.size();
  double taps = 1;
  for (size_t i = 0; i < n; ++i) {
    taps *= static_cast<double>(pool.kernel[i]);
    if (c.Int("ceil_mode", 0) == 0) continue;
    // Adds zeros after the data so that the last window is complete, unless it begins after the
    // data.
    const int64_t extent = c.type(x).shape[i + 2] + pool.pads[i];
    const int64_t room = extent + pool.pads[i + n] - (pool.kernel[i] - 1) * pool.dilations[i] - 1;
    const int64_t rest = room > 0 ? room % pool.strides[i] : 0;
    const bool begins_inside = (room / pool.strides[i] + 1) * pool.strides[i] < extent;
    if (rest > 0 && begins_inside) pool.pads[i + n] += pool.strides[i] - rest;
  }
  Formula f(c);
  const ValueId raised = Raised(f, x, p);
  if (!f.ok()) return f.status();
  KILN_ASSIGN_OR_RETURN(const Spatial data, AsSpatial(c, raised));
  Attrs attrs = PoolAttrs(pool, data, false);
  attrs.Set("count_include_pad", true);
  ValueId y = f(data.Op("nn.avg_pool"), {data.data}, attrs);
  y = Root(f, f("multiply", {y, f.Number(taps, x)}), p);
  if (!f.ok()) return f.status();
  KILN_ASSIGN_OR_RETURN(y, Back(c, y, data));
  return f.Output(0, y);
}

std::vector<int64_t> SpatialAxes(const TensorType& type) {
  std::vector<int64_t> axes;
  for (int64_t d = 2; d < type.rank(); ++d) axes.push_back(d);
  return axes;
}

// Data of four dimensions uses the pooling operators. Other data is reduced.
absl::Status GlobalPoolOf(Converter& c, absl::string_view pool, absl::string_view reduction) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  const TensorType type = c.type(x);
  if (type.rank() < 3) return Wrong("data", type.ToString(), "rank 3 or more");
  Formula f(c);
  return f.Output(0, type.rank() == 4 ? f(pool, {x}) : f.Reduce(reduction, x, SpatialAxes(type)));
}

absl::Status GlobalAveragePool(Converter& c) {
  return GlobalPoolOf(c, "nn.global_avg_pool2d", "mean");
}
absl::Status GlobalMaxPool(Converter& c) { return GlobalPoolOf(c, "nn.global_max_pool2d", "max"); }

absl::Status GlobalLpPool(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  const double p = Exponent(c);
  if (!(p > 0)) return Wrong("p", absl::StrCat(p), "a positive number");
  if (c.type(x).rank() < 3) return Wrong("data", c.type(x).ToString(), "rank 3 or more");
  Formula f(c);
  const ValueId sum = f.Reduce("sum", Raised(f, x, p), SpatialAxes(c.type(x)));
  return f.Output(0, Root(f, sum, p));
}

// Puts every value at the position where MaxPool found it. Positions refer to the extents of the
// pooled data. If output_shape is larger, zeros follow.
absl::Status MaxUnpool(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const ValueId places, c.Input(1));
  const TensorType type = c.type(x);
  if (c.type(places).shape != type.shape) {
    return Wrong("indices", c.type(places).ToString(), ShapeToString(type.shape));
  }
  KILN_ASSIGN_OR_RETURN(const Windows pool, PoolOf(c, type));
  Shape shape = type.shape;
  for (size_t i = 0; i < pool.kernel.size(); ++i) {
    int64_t& extent = shape[i + 2];
    // This fits int64, as an extent has at most 34 bits and a stride 24.
    extent = (extent - 1) * pool.strides[i];
    extent += pool.kernel[i] - pool.pads[i] - pool.pads[i + pool.kernel.size()];
  }
  const TensorType whole{shape, type.dtype};
  KILN_RETURN_IF_ERROR(CheckTensorType(whole));
  std::vector<AttrValue> widths;
  if (c.HasInput(2)) {
    KILN_ASSIGN_OR_RETURN(const Tensor wanted, c.ConstantInput(2, "output_shape"));
    const Shape to = wanted.ToInts();
    if (to.size() != shape.size()) return Wrong("output_shape", ShapeToString(to), "as the data");
    for (size_t d = 0; d < to.size(); ++d) {
      if (to[d] < shape[d]) {
        return Wrong("output_shape", ShapeToString(to),
                     absl::StrCat("at least ", ShapeToString(shape)));
      }
      widths.push_back(AttrValue::Ints({0, to[d] - shape[d]}));
    }
  }
  Formula f(c);
  const int64_t count = type.num_elements();
  const ValueId zero = f.Number(0, x);
  const ValueId empty = f("full", {zero}, {{"shape", AttrValue::Ints({whole.num_elements()})}});
  ValueId y = f("scatter_elements", {empty, f.Reshape(places, {count}), f.Reshape(x, {count})},
                {{"axis", 0}});
  y = f.Reshape(y, shape);
  if (!widths.empty()) y = f("nn.pad", {y, zero}, {{"pad_width", AttrValue(widths)}});
  return f.Output(0, y);
}

constexpr OnnxOperator kPoolingRows[] = {
    {"AveragePool", AveragePool},
    {"GlobalAveragePool", GlobalAveragePool},
    Composite("GlobalLpPool", GlobalLpPool),
    {"GlobalMaxPool", GlobalMaxPool},
    Composite("LpPool", LpPool),
    {"MaxPool", MaxPool},
    {"MaxUnpool", MaxUnpool},
};

}  // namespace

absl::Span<const OnnxOperator> PoolingOperators() { return kPoolingRows; }

}  // namespace kiln::onnx_frontend
