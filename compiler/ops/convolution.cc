// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/convolution.h"

#include "compiler/ops/constraint.h"

namespace kiln {
namespace {

absl::Status CheckChannels(const Attrs& attrs, const Convolution& c,
                           const std::vector<int64_t>& taps) {
  KILN_CONSTRAINT(9, attrs.IsNone("channels") || attrs.Int("channels") == c.out_channels(),
                  absl::StrCat("channels ", attrs.Get("channels").ToString()),
                  absl::StrCat(c.out_channels(), " as the weight has"));
  KILN_CONSTRAINT(9, attrs.IsNone("kernel_size") || attrs.Ints("kernel_size") == taps,
                  absl::StrCat("kernel_size ", attrs.Get("kernel_size").ToString()),
                  absl::StrCat(AttrValue::Ints(taps).ToString(), " as the weight has"));
  return absl::OkStatus();
}

// Sets groups and channels from the channels of data and the extents `o` and `i` of the weight.
absl::Status SetChannels(int64_t groups, int64_t in_channels, int64_t o, int64_t i,
                         Convolution* c) {
  KILN_CONSTRAINT(7, groups >= 1 && in_channels % groups == 0, absl::StrCat("groups ", groups),
                  absl::StrCat("a divisor of ", in_channels, " channels of data"));
  c->groups = groups;
  c->in_per_group = in_channels / groups;
  c->multiplier_in_i = groups > 1 && groups == in_channels && o == groups && i > 1;
  if (c->multiplier_in_i) {
    c->out_per_group = i;
    return absl::OkStatus();
  }
  KILN_CONSTRAINT(7, o % groups == 0, absl::StrCat("groups ", groups),
                  absl::StrCat("a divisor of ", o, " outputs"));
  KILN_CONSTRAINT(8, i == c->in_per_group, absl::StrCat(i, " input channels of the weight"),
                  absl::StrCat(in_channels, " of data / ", groups, " groups"));
  c->out_per_group = o / groups;
  return absl::OkStatus();
}

}  // namespace

std::vector<int64_t> KernelLayout::Space(const Shape& weight) const {
  std::vector<int64_t> taps;
  for (size_t dim : spatial) taps.push_back(weight[dim]);
  return taps;
}

Indices KernelLayout::At(const Expr& o_index, const Expr& i_index, const Indices& taps) const {
  Indices at(spatial.size() + 2);
  at[o] = o_index;
  at[i] = i_index;
  for (size_t k = 0; k < spatial.size(); ++k) at[spatial[k]] = taps[k];
  return at;
}

absl::StatusOr<KernelLayout> ParseKernelLayout(const std::string& text, int spatial,
                                               int constraint) {
  KernelLayout layout;
  const std::string letters = SpatialLetters(spatial);
  bool valid = text.size() == letters.size() + 2;
  for (char letter : letters + "OI") valid = valid && text.find(letter) != std::string::npos;
  for (size_t k = 1; k < letters.size(); ++k) {
    valid = valid && text.find(letters[k - 1]) < text.find(letters[k]);
  }
  KILN_CONSTRAINT(constraint, valid, absl::StrCat("kernel_layout ", text),
                  absl::StrCat("an order of O, I and ", letters));
  layout.o = text.find('O');
  layout.i = text.find('I');
  for (char letter : letters) layout.spatial.push_back(text.find(letter));
  return layout;
}

absl::StatusOr<Convolution> MakeConvolution(const Attrs& attrs, const TensorType& data,
                                            const TensorType& weight, int spatial) {
  Convolution c;
  KILN_ASSIGN_OR_RETURN(c.layout, ParseDataLayout(attrs, "data_layout", spatial, 4));
  KILN_ASSIGN_OR_RETURN(c.kernel, ParseKernelLayout(attrs.String("kernel_layout"), spatial, 5));
  KILN_CONSTRAINT(6, data.rank() == spatial + 2 && weight.rank() == spatial + 2,
                  absl::StrCat(ShapeToString(data.shape), " and ", ShapeToString(weight.shape)),
                  absl::StrCat("rank ", spatial + 2));
  c.batch = data.shape[0];
  const std::vector<int64_t> taps = c.kernel.Space(weight.shape);
  KILN_RETURN_IF_ERROR(SetChannels(attrs.Int("groups"), data.shape[c.layout.channel_dim()],
                                   weight.shape[c.kernel.o], weight.shape[c.kernel.i], &c));
  KILN_RETURN_IF_ERROR(CheckChannels(attrs, c, taps));
  KILN_ASSIGN_OR_RETURN(c.window, MakeWindow(attrs, c.layout.Space(data.shape), taps, false, 10));
  KILN_RETURN_IF_ERROR(CheckPadded(c.layout, data, c.window, 12));
  return c;
}

std::vector<std::string> ConvolutionConstraints() {
  return {"data and weight both hold floats, or both hold integers",
          "their dtypes are equal, or out_dtype is given",
          "out_dtype is of the same kind and not narrower",
          "data_layout is one of the layouts named above, and out_layout is \"\" or the same",
          "kernel_layout is an order of O, I and the spatial letters in which the spatial letters "
          "keep their order",
          "data and weight have the rank of their layouts",
          "groups is positive and divides the number of channels of data and of the output",
          "the weight has as many input channels as a group of data",
          "channels and kernel_size are None or match the weight",
          "strides, dilation and the kernel have one positive value per dimension; padding has one "
          "value, one per dimension or one per side, none of them negative",
          "at least one window fits into the padded data",
          "the padded data is a tensor within the limits"};
}

AttrSchema GroupsAttr() {
  return {"groups", AttrType::kInt, 1, false,
          "number of groups of channels that are convolved separately"};
}

AttrSchema ChannelsAttr() {
  return {"channels",
          AttrType::kInt,
          {},
          false,
          "channels of the output; taken from the weight if None"};
}

AttrSchema KernelSizeAttr() {
  return {"kernel_size",
          AttrType::kInts,
          {},
          false,
          "extents of the kernel; taken from the weight if None"};
}

std::vector<AttrSchema> ConvolutionAttrs(int spatial, absl::string_view zeros,
                                         absl::string_view sum_dtype) {
  const AttrValue ones = AttrValue::Ints(Shape(static_cast<size_t>(spatial), 1));
  return {
      {"strides", AttrType::kInts, ones, false, "positions from one window to the next"},
      {"padding", AttrType::kInts, AttrValue::Ints(Shape(spatial == 3 ? 3 : 2, 0)), false,
       absl::StrCat(zeros,
                    " around data: one number for all sides, one per dimension, or one per "
                    "dimension before data and then one per dimension after it")},
      {"dilation", AttrType::kInts, ones, false, "positions from one tap to the next"},
      GroupsAttr(),
      ChannelsAttr(),
      KernelSizeAttr(),
      {"data_layout", AttrType::kString, ChannelsFirst(spatial), false, DataLayoutNames(spatial)},
      {"kernel_layout", AttrType::kString, "OI" + SpatialLetters(spatial), false,
       spatial == 1   ? "any order of O, I, W"
       : spatial == 2 ? "OIHW, HWIO, OHWI, HWOI, …"
                      : "OIDHW, DHWIO, ODHWI, DHWOI, …"},
      {"out_layout", AttrType::kString, "", false, "\"\" or data_layout"},
      {"out_dtype", AttrType::kDType, "", false,
       absl::StrCat("dtype of the sums; ", sum_dtype, " if \"\"")}};
}

KernelAccess ReadKernel(const Convolution& c, Access weight) {
  return
      [=, kernel = c.kernel](const Expr& group, const Expr& o, const Expr& i, const Indices& taps) {
        if (c.multiplier_in_i) return weight(kernel.At(group, o, taps));
        return weight(kernel.At(group * Expr(c.out_per_group) + o, i, taps));
      };
}

Access Convolve(StageBuilder& b, std::string name, const Convolution& c, const Access& data,
                const KernelAccess& weight) {
  const bool grouped = c.groups > 1;
  const bool has_o = !grouped || c.out_per_group != 1;
  const bool has_i = !grouped || c.in_per_group != 1;
  Shape channels;
  if (grouped) channels.push_back(c.groups);
  if (has_o) channels.push_back(c.out_per_group);
  const size_t spatial = c.window.size();
  const size_t first_channel = c.layout.channels_last ? 1 + spatial : 1;
  const size_t first_space = c.layout.channels_last ? 1 : 1 + channels.size();

  const Shape outs = Outs(c.window), taps = Taps(c.window);
  Shape axes = {c.batch};
  axes.insert(axes.end(), outs.begin(), outs.end());
  axes.insert(axes.begin() + static_cast<std::ptrdiff_t>(first_channel), channels.begin(),
              channels.end());
  Shape extents = taps;
  if (has_i)
    extents.insert(c.layout.channels_last ? extents.end() : extents.begin(), c.in_per_group);
  const size_t first_tap = has_i && !c.layout.channels_last ? 1 : 0;

  struct Point {
    Expr group, o;
    Indices space;
  };
  const auto point = [=](const Indices& a) {
    const auto space = a.begin() + static_cast<std::ptrdiff_t>(first_space);
    return Point{grouped ? a[first_channel] : Expr(0),
                 has_o ? a[first_channel + (grouped ? 1 : 0)] : Expr(0),
                 Indices(space, space + static_cast<std::ptrdiff_t>(spatial))};
  };
  const auto index = [=](const Indices& a) {
    const Point p = point(a);
    return c.layout.Order(a[0], p.group * Expr(c.out_per_group) + p.o, p.space);
  };
  return b.ReduceInto(
      std::move(name), c.OutShape(), std::move(axes), index, std::move(extents),
      loop::Combine::kSum, [&](const Indices& a, const Indices& r) {
        const Point p = point(a);
        const auto first = r.begin() + static_cast<std::ptrdiff_t>(first_tap);
        const Indices k(first, first + static_cast<std::ptrdiff_t>(spatial));
        const Expr i = !has_i ? Expr(0) : c.layout.channels_last ? r.back() : r.front();
        return data(c.layout.Order(a[0], p.group * Expr(c.in_per_group) + i,
                                   Places(c.window, p.space, k))) *
               weight(p.group, p.o, i, k);
      });
}

}  // namespace kiln
