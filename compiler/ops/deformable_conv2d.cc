// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/math.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/window.h"

namespace kiln {
namespace {

enum { kData, kOffset, kWeight };

struct DeformableSetting {
  DataLayout layout;
  Window window;
  int64_t channels = 0, outputs = 0, groups = 1, deformable_groups = 1;

  // Shape of the values that the taps read: (n, y, x, tap y, tap x, channel).
  Shape SampledShape(int64_t batch) const {
    return {batch, window[0].out, window[1].out, window[0].taps, window[1].taps, channels};
  }
};

absl::StatusOr<DeformableSetting> ReadDeformable(const Attrs& attrs, const TensorType& data,
                                                 const TensorType& offset,
                                                 const TensorType& weight) {
  const std::string& kernel = attrs.String("kernel_layout");
  DeformableSetting s;
  KILN_ASSIGN_OR_RETURN(s.layout, ParseDataLayout(attrs, "data_layout", 2, 2));
  KILN_CONSTRAINT(2, kernel == (s.layout.channels_last ? "HWIO" : "OIHW"),
                  absl::StrCat("kernel_layout ", kernel), "OIHW, or of NHWC HWIO");
  KILN_CONSTRAINT(3, data.rank() == 4 && offset.rank() == 4 && weight.rank() == 4,
                  absl::StrCat("ranks ", data.rank(), ", ", offset.rank(), ", ", weight.rank()),
                  "rank 4 of all");
  const bool last = s.layout.channels_last;
  const std::vector<int64_t> taps = last ? std::vector<int64_t>{weight.shape[0], weight.shape[1]}
                                         : std::vector<int64_t>{weight.shape[2], weight.shape[3]};
  s.channels = data.shape[s.layout.channel_dim()];
  s.outputs = weight.shape[last ? 3 : 0];
  s.groups = attrs.Int("groups");
  s.deformable_groups = attrs.Int("deformable_groups");
  const int64_t depth = weight.shape[last ? 2 : 1];
  KILN_CONSTRAINT(4,
                  s.groups >= 1 && s.channels % s.groups == 0 && s.outputs % s.groups == 0 &&
                      s.channels / s.groups == depth && depth >= 1,
                  absl::StrCat(s.groups, " groups of ", s.channels, " channels and a weight of ",
                               ShapeToString(weight.shape)),
                  "groups that divide both, and a weight for the channels of one");
  KILN_CONSTRAINT(4, s.deformable_groups >= 1 && s.channels % s.deformable_groups == 0,
                  absl::StrCat("deformable_groups ", s.deformable_groups),
                  absl::StrCat("a divisor of ", s.channels));
  const bool fits = (attrs.IsNone("channels") || attrs.Int("channels") == s.outputs) &&
                    (attrs.IsNone("kernel_size") || attrs.Ints("kernel_size") == taps);
  KILN_CONSTRAINT(5, fits, "channels or kernel_size", "those of the weight, or None");
  KILN_ASSIGN_OR_RETURN(s.window, MakeWindow(attrs, s.layout.Space(data.shape), taps, false, 6));
  const Shape wanted =
      s.layout.Order(data.shape[0], 2 * s.deformable_groups * taps[0] * taps[1], Outs(s.window));
  KILN_CONSTRAINT(8, offset.shape == wanted, ShapeToString(offset.shape), ShapeToString(wanted));
  const TensorType sampled = {s.SampledShape(data.shape[0]), data.dtype};
  KILN_CONSTRAINT(8, CheckTensorType(sampled).ok(), ShapeToString(sampled.shape),
                  "samples within the limits");
  return s;
}

InferResult InferDeformableConv2d(const InferContext& c) {
  const DType dtype = c.inputs[kData].dtype;
  KILN_CONSTRAINT(1,
                  dtype.is_float() && c.inputs[kOffset].dtype == dtype &&
                      c.inputs[kWeight].dtype == dtype &&
                      c.attrs.DTypeOr("out_dtype", dtype) == dtype,
                  absl::StrCat(dtype.ToString(), ", ", c.inputs[kOffset].dtype.ToString(), " and ",
                               c.inputs[kWeight].dtype.ToString()),
                  "floats of one dtype");
  KILN_ASSIGN_OR_RETURN(
      const DeformableSetting s,
      ReadDeformable(c.attrs, c.inputs[kData], c.inputs[kOffset], c.inputs[kWeight]));
  return OutputTypes(
      {{s.layout.Order(c.inputs[kData].shape[0], s.outputs, Outs(s.window)), dtype}});
}

// The values that the taps read, of SampledShape. A value is interpolated between four places of
// data; it is 0 beyond data.
Access Samples(StageBuilder& b, const DeformableSetting& s) {
  const DType dtype = ComputeType(b.input_dtype(kData));
  const Shape& data = b.input_shape(kData);
  const auto number = [&](double value) { return loop::Const(dtype, value); };
  return b.Compute(
      "samples", s.SampledShape(data[0]),
      [&, x = b.Input(kData), offset = b.Input(kOffset)](const Indices& i) {
        const Expr channel = i[5], group = channel / Expr(s.channels / s.deformable_groups);
        const Expr tap = (group * Expr(s.window[0].taps) + i[3]) * Expr(s.window[1].taps) + i[4];
        Expr inside, low[2], rest[2];
        for (size_t k = 0; k < 2; ++k) {
          const WindowDim& d = s.window[k];
          const Expr shift = offset(s.layout.Order<Expr>(
              i[0], tap * Expr(2) + Expr(static_cast<int64_t>(k)), {i[1], i[2]}));
          const Expr place =
              i[1 + k] * Expr(d.stride) + i[3 + k] * Expr(d.dilation) - Expr(d.pad_before);
          const Expr at = loop::MakeCast(dtype, place) + shift;
          const Expr own = at >= number(0) && at < number(static_cast<double>(d.extent));
          inside = inside ? inside && own : own;
          low[k] = loop::Floor(at);
          rest[k] = at - low[k];
        }
        Expr sum;
        for (int corner = 0; corner < 4; ++corner) {
          const bool high[2] = {corner >= 2, corner % 2 == 1};
          Expr weight, beyond;
          Indices at;
          for (size_t k = 0; k < 2; ++k) {
            const int64_t extent = s.window[k].extent;
            const Expr own = high[k] ? rest[k] : number(1) - rest[k];
            weight = weight ? weight * own : own;
            const Expr index = loop::ToIndex(loop::MakeCast(DType::Int(32), low[k]));
            at.push_back(ClampIndex(high[k] ? ClampIndex(index, extent) + Expr(1) : index, extent));
            if (!high[k]) continue;
            const Expr is_last = low[k] >= number(static_cast<double>(extent) - 1);
            beyond = beyond ? beyond || is_last : is_last;
          }
          Expr value = x(s.layout.Order<Expr>(i[0], channel, at)) * weight;
          if (beyond) value = loop::MakeSelect(beyond, number(0), value);
          sum = sum ? sum + value : value;
        }
        return loop::MakeSelect(inside, sum, number(0));
      });
}

absl::Status LowerDeformableConv2d(StageBuilder& b) {
  KILN_ASSIGN_OR_RETURN(
      const DeformableSetting s,
      ReadDeformable(b.attrs(), b.input_type(kData), b.input_type(kOffset), b.input_type(kWeight)));
  const Access samples = Samples(b, s);
  const Expr depth = s.channels / s.groups, per_group = s.outputs / s.groups;
  const Shape extents = {s.window[0].taps, s.window[1].taps, s.channels / s.groups};
  b.Output(0, b.Reduce("conv", b.output_shape(0), extents, loop::Combine::kSum,
                       [&, weight = b.Input(kWeight)](const Indices& i, const Indices& r) {
                         const Indices o = s.layout.Space(i);
                         const Expr out = i[s.layout.channel_dim()];
                         const Expr channel = s.groups == 1 ? r[2] : out / per_group * depth + r[2];
                         return samples({i[0], o[0], o[1], r[0], r[1], channel}) *
                                (s.layout.channels_last ? weight({r[0], r[1], r[2], out})
                                                        : weight({out, r[2], r[0], r[1]}));
                       }));
  return absl::OkStatus();
}

AttrSchema Ints(std::string name, AttrValue otherwise, std::string doc) {
  return {std::move(name), AttrType::kInts, std::move(otherwise), false, std::move(doc)};
}

const OpDef kDeformableConv2d = {
    {.name = "nn.deformable_conv2d",
     .doc = "nn.conv2d with shifted taps. Tap (ky, kx) of the window at (y, x) reads data at its "
            "position plus an offset of its own, interpolated between the four positions around "
            "it. A position beyond data is 0.",
     .inputs = {{"data", "floats, as data_layout says"},
                {"offset", "shifts (y, x) per deformable group and tap, as data_layout says"},
                {"weight", "dimensions as kernel_layout says"}},
     .attrs =
         {Ints("strides", List({1, 1}), "positions from one window to the next"),
          Ints(
              "padding", List({0, 0}),
              "zeros around data: one number for all sides, (h, w), or (top, left, bottom, right)"),
          Ints("dilation", List({1, 1}), "positions from one tap to the next"),
          {"deformable_groups", AttrType::kInt, 1, false,
           "number of groups of channels with offsets of their own"},
          {"groups", AttrType::kInt, 1, false,
           "number of groups of channels that are convolved separately"},
          {"channels",
           AttrType::kInt,
           {},
           false,
           "channels of the result; taken from the weight if None"},
          Ints("kernel_size", {}, "extents of the kernel; taken from the weight if None"),
          {"data_layout", AttrType::kString, "NCHW", false, "NCHW or NHWC"},
          {"kernel_layout", AttrType::kString, "OIHW", false, "OIHW for NCHW, HWIO for NHWC"},
          {"out_layout", AttrType::kString, "", false, "\"\" or data_layout"},
          {"out_dtype", AttrType::kDType, "", false, "\"\" or the dtype of data"}}},
    {"data, offset and weight hold floats of the same dtype",
     "data_layout is NCHW with kernel_layout OIHW, or NHWC with HWIO", "all inputs have rank 4",
     "groups divides the channels of data and of the result, deformable_groups divides the "
     "channels of data, and the weight has the channels of one group",
     "channels and kernel_size are None or match the weight",
     "taps, strides and dilation are positive, and padding is not negative",
     "at least one window fits into the padded data",
     "offset has two channels per deformable group and tap, and the extents of the result"},
    {.fusion = Fusion::kOpaque, .layout = LayoutRule::kFixed, .weight = 2},
    InferDeformableConv2d,
    LowerDeformableConv2d,
    // First case: a window of one tap reads data at (y, x) + offset. Second
    // case: two taps side by side.
    {Case({Values(F32({1, 1, 2, 2}), {1, 2, 3, 4}),
           Values(F32({1, 2, 2, 2}), {0, 0.5, 0, 0, 0, -0.5, 0.25, 1}),
           Values(F32({1, 1, 1, 1}), {2})},
          {}, {Values(F32({1, 1, 2, 2}), {2, 5, 6.5, 0})}),
     Case({Values(F32({1, 1, 2, 1}), {1, 3}), Values(F32({1, 1, 1, 4}), {0, 0.5, 0, -1}),
           Values(F32({1, 2, 1, 1}), {1, 10})},
          {{"data_layout", "NHWC"}, {"kernel_layout", "HWIO"}}, {Values(F32({1, 1, 1, 1}), {12})}),
     {.inputs = {F32({2, 4, 5, 6}), F32({2, 36, 5, 3}), F32({6, 2, 3, 3})},
      .attrs = {{"strides", List({1, 2})},
                {"padding", List({1, 1})},
                {"groups", 2},
                {"deformable_groups", 2}}},
     {.inputs = {F16({1, 4, 4, 2}), F16({1, 3, 3, 8}), F16({2, 2, 2, 3})},
      .attrs = {{"data_layout", "NHWC"}, {"kernel_layout", "HWIO"}}}},
};
KILN_REGISTER_OP(kDeformableConv2d);

}  // namespace
}  // namespace kiln
