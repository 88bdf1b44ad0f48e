// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/transposed_convolution.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/ops/constraint.h"

namespace kiln {
namespace {

// "IOHW (also spelled OIHW), HWOI or OHWI", for `spatial` dimensions.
std::string KernelLayoutNames(int spatial) {
  const std::string space = SpatialLetters(spatial);
  return absl::StrCat("IO", space, " (also spelled OI", space, "), ", space, "OI or O", space, "I");
}

// Parses a kernel_layout. "OIHW" and "IOHW" are the same layout: Relay spells its default "OIHW"
// although its first dimension is the channels of data.
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

}  // namespace

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

std::vector<std::string> TransposedConstraints(int spatial) {
  std::vector<std::string> constraints = ConvolutionConstraints();
  constraints[4] = "kernel_layout is " + KernelLayoutNames(spatial);
  constraints[6] = "groups is positive and divides the number of channels of data";
  constraints[7] = "the weight has as many input channels as data";
  constraints[10] = "data and the output have at least one position";
  constraints[11] =
      "data with zeros between its positions and around it is a tensor within the limits";
  constraints.emplace_back(
      "output_padding is not negative and less than the stride or the dilation");
  return constraints;
}

std::vector<AttrSchema> TransposedAttrs(int spatial, std::string out_dtype) {
  const auto list = [&](int64_t value) {
    return AttrValue::Ints(std::vector<int64_t>(static_cast<size_t>(spatial), value));
  };
  return {
      ChannelsAttr(),
      KernelSizeAttr(),
      {"strides", AttrType::kInts, list(1), false, "positions of the output per position of data"},
      {"output_padding", AttrType::kInts, list(0), false,
       "number of additional positions at the end of the output"},
      {"padding", AttrType::kInts, list(0), false,
       "positions of the output that are left out around it"},
      {"dilation", AttrType::kInts, list(1), false, "positions from one tap to the next"},
      GroupsAttr(),
      {"data_layout", AttrType::kString, ChannelsFirst(spatial), false, DataLayoutNames(spatial)},
      {"kernel_layout", AttrType::kString, "OI" + SpatialLetters(spatial), false,
       KernelLayoutNames(spatial)},
      {"out_layout", AttrType::kString, "", false, "\"\" or data_layout"},
      {"out_dtype", AttrType::kDType, "", false, std::move(out_dtype)}};
}

Access Spread(StageBuilder& b, const Access& x, const Transposed& t, const Expr& zero) {
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
    return GuardedValue(x, b.input_shape(0), at, in_bounds, zero);
  });
}

KernelAccess ReadFlippedKernel(const Convolution& c, Access weight) {
  return [c, weight = std::move(weight)](const Expr& group, const Expr& o, const Expr& i,
                                         const Indices& taps) {
    Indices back;
    for (size_t k = 0; k < taps.size(); ++k) back.push_back(Expr(c.window[k].taps - 1) - taps[k]);
    return weight(c.kernel.At(o, group * Expr(c.in_per_group) + i, back));
  };
}

}  // namespace kiln
