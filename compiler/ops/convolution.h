// SPDX-License-Identifier: Apache-2.0
// What convolutions of every kind share: geometry, and the stage that multiplies and sums. The
// schedules read that stage:
//
//   axes (n, h, w, oc) of NHWC data, (n, oc, h, w) of NCHW; reduction (kh, kw, ic) or (ic, kh, kw);
//   term data(…) * weight(…).
//
// With groups, oc is two axes (group, channel of the group), of which the second is left out where
// a group has one channel; ic is left out where a group has one input channel, as depthwise
// convolutions do.
#ifndef KILN_COMPILER_OPS_CONVOLUTION_H_
#define KILN_COMPILER_OPS_CONVOLUTION_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "compiler/ops/stage_builder.h"
#include "compiler/ops/window.h"

namespace kiln {

// Where the dimensions of a weight are: "OIHW", "HWIO", …
struct KernelLayout {
  size_t o = 0, i = 0;
  std::vector<size_t> spatial;

  std::vector<int64_t> Space(const Shape& weight) const;
  // An index into the weight.
  Indices At(const Expr& o_index, const Expr& i_index, const Indices& taps) const;
};
// Any order of the letters O, I and W; with H before W, and with D before H.
absl::StatusOr<KernelLayout> ParseKernelLayout(const std::string& text, int spatial,
                                               int constraint);

struct Convolution {
  DataLayout layout;
  KernelLayout kernel;
  Window window;
  int64_t batch = 1, groups = 1;
  int64_t in_per_group = 1, out_per_group = 1;
  // A depthwise weight whose dimensions O and I are the channels and the outputs per channel,
  // rather than all outputs and 1.
  bool multiplier_in_i = false;

  int64_t out_channels() const { return groups * out_per_group; }
  Shape OutShape() const { return layout.Order(batch, out_channels(), Outs(window)); }
};

// The convolution of data and weight of these shapes that the attributes data_layout,
// kernel_layout, out_layout, groups, channels, kernel_size, strides, padding and dilation say.
// Constraints, from 4 (ProductType has 1 to 3):
// 4. data_layout is known, out_layout is the same or empty   5. kernel_layout is known
// 6. the ranks of data and weight fit the layouts             7. groups is positive and divides the
// channels of data and the outputs
// 8. the weight has the input channels of one group           9. channels and kernel_size are None
// or as the weight
// 10. strides, dilation, padding and kernel are in range      11. at least one window fits
// 12. padded data is a tensor within the limits
absl::StatusOr<Convolution> MakeConvolution(const Attrs& attrs, const TensorType& data,
                                            const TensorType& weight, int spatial);
// The documentation of constraints 1 to 12.
std::vector<std::string> ConvolutionConstraints();

// Weight of (group, output of the group, input of the group, taps).
using KernelAccess =
    std::function<Expr(const Expr& group, const Expr& o, const Expr& i, const Indices& taps)>;
KernelAccess ReadKernel(const Convolution& c, Access weight);

// The stage `name`: `data` is padded already. Factors are widened as they must be.
Access Convolve(StageBuilder& b, std::string name, const Convolution& c, const Access& data,
                const KernelAccess& weight);

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_CONVOLUTION_H_
