// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "compiler/ops/convolution.h"
#include "compiler/ops/matrix_product.h"

namespace kiln {
namespace {

// The transposed convolution as an ordinary one, of stride 1 over data with stride-1 zeros between
// its places.
struct Transposed {
  Convolution conv;                   // over the spread data
  std::vector<int64_t> stride;        // of the spread
  std::vector<int64_t> zeros_before;  // before the spread data; negative: places to leave out
  Shape spread;                       // shape of the spread data
};

// "IOHW (also spelled OIHW), HWOI or OHWI", for as many dimensions.
std::string KernelLayoutNames(int spatial) {
  const std::string space = SpatialLetters(spatial);
  return absl::StrCat("IO", space, " (also spelled OI", space, "), ", space, "OI or O", space, "I");
}

// "OIHW", which Relay's default spells so although the first dimension is the channels of data, and
// "IOHW" are one layout.
absl::StatusOr<KernelLayout> TransposedKernelLayout(const std::string& text, int spatial) {
  const std::string space = SpatialLetters(spatial);
  KILN_CONSTRAINT(5,
                  text == "OI" + space || text == "IO" + space || text == space + "OI" ||
                      text == "O" + space + "I",
                  absl::StrCat("kernel_layout ", text), KernelLayoutNames(spatial));
  return ParseKernelLayout(text == "OI" + space ? "IO" + space : text, spatial, 5);
}

absl::Status SetGeometry(const Attrs& attrs, const TensorType& data, const Window& window,
                         Transposed* t) {
  const std::vector<int64_t> extra = attrs.Ints("output_padding");
  KILN_CONSTRAINT(13, extra.size() == 1 || extra.size() == window.size(),
                  absl::StrCat("output_padding ", attrs.Get("output_padding").ToString()),
                  "one number, or one per dimension");
  t->spread = data.shape;
  t->conv.window.clear();
  for (size_t k = 0; k < window.size(); ++k) {
    const WindowDim& d = window[k];
    const int64_t more = extra.size() == 1 ? extra[0] : extra[k];
    KILN_CONSTRAINT(13, more >= 0 && more < std::max(d.stride, d.dilation),
                    absl::StrCat("output_padding ", more),
                    "from 0 to less than the stride or the dilation");
    KILN_CONSTRAINT(11, d.extent >= 1, ShapeToString(data.shape), "at least one place");
    const int64_t out = (d.extent - 1) * d.stride + d.span() + more - d.pad_before - d.pad_after;
    KILN_CONSTRAINT(11, out >= 1, absl::StrCat(out, " places of the output"), "at least one");
    t->stride.push_back(d.stride);
    t->zeros_before.push_back(d.span() - 1 - d.pad_before);
    const size_t dim = t->conv.layout.spatial_dim(static_cast<int>(k));
    t->spread[dim] = out + d.span() - 1;
    t->conv.window.push_back(
        {.extent = t->spread[dim], .taps = d.taps, .dilation = d.dilation, .out = out});
  }
  KILN_CONSTRAINT(12, CheckTensorType({t->spread, data.dtype}).ok(),
                  absl::StrCat("spread data of shape ", ShapeToString(t->spread)),
                  "a tensor within the limits");
  return absl::OkStatus();
}

absl::StatusOr<Transposed> MakeTransposed(const Attrs& attrs, const TensorType& data,
                                          const TensorType& weight, int spatial) {
  Transposed t;
  Convolution& c = t.conv;
  KILN_ASSIGN_OR_RETURN(c.layout, ParseDataLayout(attrs, "data_layout", spatial, 4));
  KILN_ASSIGN_OR_RETURN(c.kernel, TransposedKernelLayout(attrs.String("kernel_layout"), spatial));
  KILN_CONSTRAINT(6, data.rank() == spatial + 2 && weight.rank() == spatial + 2,
                  absl::StrCat(ShapeToString(data.shape), " and ", ShapeToString(weight.shape)),
                  absl::StrCat("rank ", spatial + 2));
  const int64_t channels = data.shape[c.layout.channel_dim()], groups = attrs.Int("groups");
  KILN_CONSTRAINT(7, groups >= 1 && channels % groups == 0, absl::StrCat("groups ", groups),
                  absl::StrCat("a divisor of ", channels, " channels of data"));
  KILN_CONSTRAINT(8, weight.shape[c.kernel.i] == channels,
                  absl::StrCat(weight.shape[c.kernel.i], " input channels of the weight"),
                  absl::StrCat(channels, " as data has"));
  c.batch = data.shape[0];
  c.groups = groups;
  c.in_per_group = channels / groups;
  c.out_per_group = weight.shape[c.kernel.o];
  int64_t outputs = 0;
  KILN_CONSTRAINT(8, !__builtin_mul_overflow(groups, c.out_per_group, &outputs),
                  absl::StrCat(c.out_per_group, " outputs per group"), "fewer");
  KILN_CONSTRAINT(9, attrs.IsNone("channels") || attrs.Int("channels") == outputs,
                  absl::StrCat("channels ", attrs.Get("channels").ToString()),
                  absl::StrCat(outputs, " as the weight has"));
  const std::vector<int64_t> taps = c.kernel.Space(weight.shape);
  KILN_CONSTRAINT(9, attrs.IsNone("kernel_size") || attrs.Ints("kernel_size") == taps,
                  absl::StrCat("kernel_size ", attrs.Get("kernel_size").ToString()),
                  absl::StrCat(AttrValue::Ints(taps).ToString(), " as the weight has"));
  KILN_ASSIGN_OR_RETURN(const Window window,
                        MakeTransposedWindow(attrs, c.layout.Space(data.shape), taps, 10));
  KILN_RETURN_IF_ERROR(SetGeometry(attrs, data, window, &t));
  return t;
}

template <int kSpatial>
InferResult Infer(const InferContext& c) {
  KILN_ASSIGN_OR_RETURN(const DType dtype, ProductType(c));
  KILN_ASSIGN_OR_RETURN(const Transposed t,
                        MakeTransposed(c.attrs, c.inputs[0], c.inputs[1], kSpatial));
  return OutputTypes({{t.conv.OutShape(), dtype}});
}

// data, with zeros between its places and around it.
Access Spread(StageBuilder& b, const Transposed& t) {
  const Access x = b.Input(0);
  return b.Compute("spread", t.spread, [&](const Indices& i) {
    Indices at = i;
    Expr in_bounds = loop::IntConst(loop::Type::Of(DType::Bool()), 1);
    for (int k = 0; k < t.conv.layout.spatial; ++k) {
      const size_t dim = t.conv.layout.spatial_dim(k), d = static_cast<size_t>(k);
      const Expr place = i[dim] - Expr(t.zeros_before[d]), stride = t.stride[d];
      at[dim] = place / stride;
      in_bounds = in_bounds && place >= Expr(0) && at[dim] < Expr(b.input_shape(0)[dim]);
      if (t.stride[d] > 1) in_bounds = in_bounds && place % stride == Expr(0);
    }
    return GuardedValue(x, b.input_shape(0), at, in_bounds,
                        loop::Const(ComputeType(b.input_dtype(0)), 0));
  });
}

template <int kSpatial>
absl::Status Lower(StageBuilder& b) {
  KILN_ASSIGN_OR_RETURN(const Transposed t,
                        MakeTransposed(b.attrs(), {b.input_shape(0), b.input_dtype(0)},
                                       {b.input_shape(1), b.input_dtype(1)}, kSpatial));
  const Convolution& c = t.conv;
  const KernelAccess flipped = [&, weight = WidenedInput(b, 1)](const Expr& group, const Expr& o,
                                                                const Expr& i,
                                                                const Indices& taps) {
    Indices back;
    for (size_t k = 0; k < taps.size(); ++k) back.push_back(Expr(c.window[k].taps - 1) - taps[k]);
    return weight(c.kernel.At(o, group * Expr(c.in_per_group) + i, back));
  };
  b.Output(0, Convolve(b, "conv", c, Widened(b, Spread(b, t)), flipped));
  return absl::OkStatus();
}

std::vector<std::string> Constraints(int spatial) {
  std::vector<std::string> constraints = ConvolutionConstraints();
  constraints[4] = "kernel_layout is " + KernelLayoutNames(spatial);
  constraints[6] = "groups is positive and divides the channels of data";
  constraints[7] = "the weight has as many input channels as data";
  constraints[10] = "data has a place and the output has one";
  constraints[11] =
      "data with zeros between its places and around it is a tensor within the limits";
  constraints.push_back("output_padding is not negative and less than the stride or the dilation");
  return constraints;
}

AttrValue List(const std::vector<int64_t>& values) { return AttrValue::Ints(values); }

template <int kSpatial>
OpDef ConvTranspose(std::vector<OpExample> examples) {
  const std::vector<int64_t> ones(kSpatial, 1), zeros(kSpatial, 0);
  const std::string name = absl::StrCat("nn.conv", kSpatial, "d"), space = SpatialLetters(kSpatial);
  return {
      {.name = name + "_transpose",
       .doc = absl::StrCat(
           "The transpose of ", name,
           " as a linear map: data[n, i, y] * weight[i, o, k] is added to out[n, o, y * stride "
           "- pad + k * dilation]. A dimension of the output has (extent - 1) * stride + "
           "(taps - 1) * dilation + 1 + output_padding - padding places. O and I of "
           "kernel_layout are outputs per group and channels of data; \"OI",
           space, "\", the default, is read as \"IO", space, "\", as Relay means it."),
       .inputs = {{"data", "as data_layout"},
                  {"weight", "(channels, outputs / groups, taps…), or as kernel_layout"}},
       .attrs = {{"channels", AttrType::kInt, {}, false, "of the output; None: as the weight has"},
                 {"kernel_size", AttrType::kInts, {}, false, "None: as the weight has"},
                 {"strides", AttrType::kInts, List(ones), false,
                  "places of the output per place of data"},
                 {"output_padding", AttrType::kInts, List(zeros), false,
                  "more places of the output, at its end"},
                 {"padding", AttrType::kInts, List(zeros), false,
                  "places of the output that are left out around it"},
                 {"dilation", AttrType::kInts, List(ones), false, "places from tap to tap"},
                 {"groups", AttrType::kInt, 1, false,
                  "parts of the channels that do not see each other"},
                 {"data_layout", AttrType::kString, ChannelsFirst(kSpatial), false,
                  DataLayoutNames(kSpatial)},
                 {"kernel_layout", AttrType::kString, "OI" + space, false,
                  KernelLayoutNames(kSpatial)},
                 {"out_layout", AttrType::kString, "", false, "\"\" or data_layout"},
                 {"out_dtype", AttrType::kDType, "", false, "of the sums; \"\": as data"}}},
      Constraints(kSpatial),
      Fusion::kContraction,
      Infer<kSpatial>,
      Lower<kSpatial>,
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
