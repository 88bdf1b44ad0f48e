// SPDX-License-Identifier: Apache-2.0
// A transposed convolution as a convolution and moves. With stride s, place y of its output (before
// padding is left out) is q * s + r, and the taps that contribute to it are t * s + r:
//
//   out[q * s + r] = sum over t of data[q - t] * weight[t * s + r].
//
// For each r this is a convolution of the data itself. Together they are one convolution with s
// times the output channels per dimension, whose channels are then moved into place (Shi et al.,
// "Is the deconvolution layer the same as a convolutional layer?", arXiv:1609.07009). It multiplies
// no zeros between places of data. Its only zeros fill the taps up to a multiple of s.
#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "compiler/base/status.h"
#include "compiler/ops/add_op.h"
#include "compiler/ops/axes.h"
#include "compiler/ops/make.h"
#include "compiler/ops/quantized_product.h"
#include "compiler/ops/transposed_convolution.h"

namespace kiln {
namespace {

// One dimension of space.
struct SubpixelDim {
  int64_t stride, taps, out;  // of the transposed convolution
  int64_t parts;              // taps of the convolution of each phase r
  int64_t before, after;      // padding of that convolution
  int64_t begin;              // place of the moved result at which the output begins
};

SubpixelDim DimOf(const WindowDim& spread, int64_t stride, int64_t zeros_before, int64_t extent) {
  SubpixelDim d{.stride = stride, .taps = spread.taps, .out = spread.out};
  d.parts = (d.taps + stride - 1) / stride;
  const int64_t left_out = d.taps - 1 - zeros_before;
  const int64_t first = left_out / stride, last = (left_out + d.out - 1) / stride;
  d.before = std::max<int64_t>(d.parts - 1 - first, 0);
  d.after = std::max<int64_t>(last - (extent - 1), 0);
  d.begin = left_out - (d.parts - 1 - d.before) * stride;
  return d;
}

std::vector<SubpixelDim> DimsOf(const Transposed& t, const Shape& data) {
  std::vector<SubpixelDim> dims;
  const std::vector<int64_t> extents = t.conv.layout.Space(data);
  for (size_t k = 0; k < extents.size(); ++k) {
    dims.push_back(DimOf(t.conv.window[k], t.stride[k], t.zeros_before[k], extents[k]));
  }
  return dims;
}

constexpr int64_t kMaxGrowth = 4;  // of the weight, by zeros that fill up taps

bool Applies(const Transposed& t, const std::vector<SubpixelDim>& dims) {
  int64_t taps = 1, filled_up = 1;
  for (const SubpixelDim& d : dims) {
    taps *= d.taps;
    if (__builtin_mul_overflow(filled_up, d.parts * d.stride, &filled_up)) return false;
  }
  if (filled_up / kMaxGrowth > taps) return false;
  const bool spreads_data =
      std::any_of(dims.begin(), dims.end(), [](const SubpixelDim& d) { return d.stride > 1; });
  const bool spreads_taps = std::any_of(t.conv.window.begin(), t.conv.window.end(),
                                        [](const WindowDim& d) { return d.dilation > 1; });
  return spreads_data && !spreads_taps && t.conv.groups == 1;
}

// The weight as (strides…, O), I, parts…, with the parts from the last to the first.
// Taps that fill up are zeros.
Tensor Weight(const Tensor& weight, const Transposed& t, const std::vector<SubpixelDim>& dims) {
  const KernelLayout& kernel = t.conv.kernel;
  const int64_t inputs = t.conv.in_per_group, outputs = t.conv.out_per_group;
  Shape shape = {outputs, inputs};
  for (const SubpixelDim& d : dims) {
    shape[0] *= d.stride;
    shape.push_back(d.parts);
  }
  const size_t bytes = static_cast<size_t>(weight.type().dtype.bytes());
  const absl::string_view from = weight.bytes();
  std::string to(static_cast<size_t>(NumElements(shape)) * bytes, '\0');
  Shape index(weight.type().shape.size(), 0);
  for (size_t n = 0; n < from.size(); n += bytes) {
    int64_t phase = 0, part = 0;
    for (size_t k = 0; k < dims.size(); ++k) {
      const int64_t tap = index[kernel.spatial[k]];
      phase = phase * dims[k].stride + tap % dims[k].stride;
      part = part * dims[k].parts + dims[k].parts - 1 - tap / dims[k].stride;
    }
    const int64_t row = (phase * outputs + index[kernel.o]) * inputs + index[kernel.i];
    const int64_t place = row * (NumElements(shape) / (shape[0] * shape[1])) + part;
    from.copy(&to[static_cast<size_t>(place) * bytes], bytes, n);
    for (size_t d = index.size(); d-- > 0 && ++index[d] == weight.type().shape[d];) index[d] = 0;
  }
  return Tensor({shape, weight.type().dtype}, std::move(to));
}

// True if the scales and zero points of quantized numbers fit all phases. Values per output channel
// must be constants, as they are repeated. Taps that fill up must count as 0: their zeros must not
// stand for other numbers.
bool AreOfAnyPhase(const Graph& graph, const std::vector<ValueId>& inputs,
                   const std::vector<SubpixelDim>& dims) {
  if (inputs.size() <= kProductYZero) return true;
  for (const ProductOperand k : {kProductYScale, kProductYZero}) {
    if (graph.type(inputs[k]).num_elements() > 1 && !graph.is_constant(inputs[k])) return false;
  }
  if (std::all_of(dims.begin(), dims.end(),
                  [](const SubpixelDim& d) { return d.taps % d.stride == 0; })) {
    return true;
  }
  return graph.is_constant(inputs[kProductYZero]) &&
         graph.value(inputs[kProductYZero]).constant.bytes().find_first_not_of('\0') ==
             std::string::npos;
}

// A constant with one element per output channel, repeated for each phase.
Tensor Repeated(const Tensor& tensor, int64_t phases) {
  std::string bytes;
  for (int64_t i = 0; i < phases; ++i) bytes += tensor.bytes();
  return Tensor({{phases * tensor.type().num_elements()}, tensor.type().dtype}, std::move(bytes));
}

// Adds the convolution that replaces the transposed one of `node`, with these inputs and this
// weight.
absl::StatusOr<ValueId> Convolve(Graph& graph, const Node& node, std::vector<ValueId> inputs,
                                 ValueId weight, const std::vector<SubpixelDim>& dims) {
  const int spatial = static_cast<int>(dims.size());
  int64_t phases = 1;
  for (const SubpixelDim& d : dims) phases *= d.stride;
  inputs[kProductY] = weight;
  for (size_t k = kProductYScale; k < inputs.size(); ++k) {
    if (graph.type(inputs[k]).num_elements() == 1) continue;
    inputs[k] = graph.AddConstant(Repeated(graph.value(inputs[k]).constant, phases));
  }
  std::vector<int64_t> padding;
  for (const SubpixelDim& d : dims) padding.push_back(d.before);
  for (const SubpixelDim& d : dims) padding.push_back(d.after);
  return AddOp(graph, absl::StripSuffix(node.op_name(), "_transpose"), std::move(inputs),
               {{"padding", AttrValue::Ints(padding)},
                {"data_layout", node.attrs.Get("data_layout")},
                {"kernel_layout", absl::StrCat("OI", SpatialLetters(spatial))},
                {"out_dtype", node.attrs.Get("out_dtype")}},
               node.source);
}

// Moves channels (strides…, O) to the places of blocks whose extents are the strides.
absl::StatusOr<ValueId> MoveIntoPlace(Graph& graph, const Node& node, ValueId value,
                                      const Convolution& conv,
                                      const std::vector<SubpixelDim>& dims) {
  const bool squares = dims.size() == 2 && dims[0].stride == dims[1].stride;
  if (squares) {
    return AddOp(graph, "nn.depth_to_space", {value},
                 {{"block_size", dims[0].stride}, {"layout", node.attrs.Get("data_layout")}},
                 node.source);
  }
  const Shape from = graph.type(value).shape;
  std::vector<int64_t> extents, strides, space;
  for (size_t k = 0; k < dims.size(); ++k) {
    extents.push_back(from[conv.layout.spatial_dim(static_cast<int>(k))]);
    strides.push_back(dims[k].stride);
    space.push_back(extents.back() * strides.back());
  }
  const bool last = conv.layout.channels_last;
  Shape divided = {conv.batch};
  if (last) divided.insert(divided.end(), extents.begin(), extents.end());
  divided.insert(divided.end(), strides.begin(), strides.end());
  divided.push_back(conv.out_per_group);
  if (!last) divided.insert(divided.end(), extents.begin(), extents.end());
  const auto count = static_cast<int64_t>(dims.size());
  const int64_t channel = last ? 1 + 2 * count : 1 + count;
  std::vector<int64_t> axes = {0};
  if (!last) axes.push_back(channel);
  for (int64_t k = 0; k < count; ++k) {
    const int64_t extent = last ? 1 + k : 2 + count + k, stride = last ? 1 + count + k : 1 + k;
    axes.insert(axes.end(), {extent, stride});
  }
  if (last) axes.push_back(channel);
  if (!MovesOnlyOnes(divided, axes)) {
    KILN_ASSIGN_OR_RETURN(value, MakeReshape(graph, value, divided, node.source));
    KILN_ASSIGN_OR_RETURN(value, MakeTranspose(graph, value, axes, node.source));
  }
  return MakeReshape(graph, value, conv.layout.Order(conv.batch, conv.out_per_group, space),
                     node.source);
}

}  // namespace

absl::StatusOr<std::vector<ValueId>> SubpixelConvolution(Graph& graph, const Node& node,
                                                         const std::vector<ValueId>& inputs) {
  if (!graph.is_constant(inputs[1])) return std::vector<ValueId>();
  const TensorType data = graph.type(inputs[0]), weight = graph.type(inputs[1]);
  const int spatial = data.rank() - 2;
  KILN_ASSIGN_OR_RETURN(const Transposed t, MakeTransposed(node.attrs, data, weight, spatial));
  const std::vector<SubpixelDim> dims = DimsOf(t, data.shape);
  if (!Applies(t, dims) || !AreOfAnyPhase(graph, inputs, dims)) return std::vector<ValueId>();
  const ValueId w = graph.AddConstant(Weight(graph.value(inputs[1]).constant, t, dims));
  KILN_ASSIGN_OR_RETURN(ValueId value, Convolve(graph, node, inputs, w, dims));
  KILN_ASSIGN_OR_RETURN(value, MoveIntoPlace(graph, node, value, t.conv, dims));
  for (int k = 0; k < spatial; ++k) {
    const SubpixelDim& d = dims[static_cast<size_t>(k)];
    const size_t axis = t.conv.layout.spatial_dim(k);
    if (d.begin == 0 && graph.type(value).shape[axis] == d.out) continue;
    KILN_ASSIGN_OR_RETURN(value, MakeSlice(graph, value, static_cast<int64_t>(axis), d.begin,
                                           d.begin + d.out, node.source));
  }
  return std::vector<ValueId>{value};
}

}  // namespace kiln
