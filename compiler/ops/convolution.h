// SPDX-License-Identifier: Apache-2.0
// Geometry that convolutions of every kind share, and the stage that multiplies and sums. The
// schedules recognize that stage:
//
//   axes (n, h, w, oc) of NHWC data, (n, oc, h, w) of NCHW; reduction (kh, kw, ic) or (ic, kh, kw);
//   term data(…) * weight(…).
//
// With groups, oc is two axes (group, channel of the group). The second one is left out if a
// group has one output channel. The axis ic is left out if a group has one input channel, as
// in depthwise convolutions.
#ifndef KILN_COMPILER_OPS_CONVOLUTION_H_
#define KILN_COMPILER_OPS_CONVOLUTION_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/graph/op_schema.h"
#include "compiler/ops/stage_builder.h"
#include "compiler/ops/window.h"

namespace kiln {

// Positions of the dimensions of a weight: "OIHW", "HWIO", …
struct KernelLayout {
  size_t o = 0, i = 0;
  std::vector<size_t> spatial;

  std::vector<int64_t> Space(const Shape& weight) const;
  // The index into the weight of an output channel, an input channel and taps.
  Indices At(const Expr& o_index, const Expr& i_index, const Indices& taps) const;
};
// Parses any order of O, I and the spatial letters, with D before H before W.
absl::StatusOr<KernelLayout> ParseKernelLayout(const std::string& text, int spatial,
                                               int constraint);

struct Convolution {
  DataLayout layout;
  KernelLayout kernel;
  Window window;
  int64_t batch = 1, groups = 1;
  int64_t in_per_group = 1, out_per_group = 1;
  // A depthwise weight with the channels of data as dimension O and the outputs per channel as I.
  // Otherwise O is all outputs and I is 1.
  bool multiplier_in_i = false;

  int64_t out_channels() const { return groups * out_per_group; }
  Shape OutShape() const { return layout.Order(batch, out_channels(), Outs(window)); }
};

// Builds the convolution of data and weight of these types from the attributes data_layout,
// kernel_layout, out_layout, groups, channels, kernel_size, strides, padding and dilation.
// Constraints 4 to 12 (ProductType has 1 to 3):
//   4. data_layout is known, out_layout is the same or empty
//   5. kernel_layout is known
//   6. the ranks of data and weight fit the layouts
//   7. groups is positive and divides the channels of data and the outputs
//   8. the weight has the input channels of one group
//   9. channels and kernel_size are None or as the weight
//   10. strides, dilation, padding and kernel are in range
//   11. at least one window fits
//   12. padded data is a tensor within the limits
absl::StatusOr<Convolution> MakeConvolution(const Attrs& attrs, const TensorType& data,
                                            const TensorType& weight, int spatial);
// The documentation of constraints 1 to 12.
std::vector<std::string> ConvolutionConstraints();

// The attributes of a convolution. Outside of data are `zeros` ("zeros"), and without an out_dtype
// the sums have `sum_dtype` ("that of data").
std::vector<AttrSchema> ConvolutionAttrs(int spatial, absl::string_view zeros,
                                         absl::string_view sum_dtype);
AttrSchema GroupsAttr();
AttrSchema ChannelsAttr();
AttrSchema KernelSizeAttr();

// Reads the weight at (group, output of the group, input of the group, taps).
using KernelAccess =
    std::function<Expr(const Expr& group, const Expr& o, const Expr& i, const Indices& taps)>;
KernelAccess ReadKernel(const Convolution& c, Access weight);

// Adds the stage `name`. `data` must be padded, and both factors must be widened (Widened).
Access Convolve(StageBuilder& b, std::string name, const Convolution& c, const Access& data,
                const KernelAccess& weight);

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_CONVOLUTION_H_
