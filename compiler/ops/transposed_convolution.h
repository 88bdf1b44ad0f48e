// SPDX-License-Identifier: Apache-2.0
// Geometry of transposed convolutions, data with zeros between its places, and the flipped weight.
#ifndef KILN_COMPILER_OPS_TRANSPOSED_CONVOLUTION_H_
#define KILN_COMPILER_OPS_TRANSPOSED_CONVOLUTION_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ops/convolution.h"
#include "compiler/ops/op_def.h"

namespace kiln {

// A transposed convolution as an ordinary one, with stride 1 over data that has stride - 1
// zeros between its places.
struct Transposed {
  Convolution conv;                   // over the spread data
  std::vector<int64_t> stride;        // from place to place of data in the spread data
  std::vector<int64_t> zeros_before;  // before the spread data; negative: places to leave out
  Shape spread;                       // shape of the spread data
};

// Makes the transposed convolution of data and weight of these types, from the attributes of
// MakeConvolution and output_padding. Checks constraints 4 to 13.
absl::StatusOr<Transposed> MakeTransposed(const Attrs& attrs, const TensorType& data,
                                          const TensorType& weight, int spatial);
// The documentation of constraints 1 to 13.
std::vector<std::string> TransposedConstraints(int spatial);
// The attributes of a transposed convolution. `out_dtype` is the documentation of that attribute.
std::vector<AttrSchema> TransposedAttrs(int spatial, std::string out_dtype);

// Adds the stage "spread": `x`, which is input 0 or made from it, with `zero` between
// its places and around it.
Access Spread(StageBuilder& b, const Access& x, const Transposed& t, const Expr& zero);
// Access to a weight for Convolve, with its taps in reverse order.
KernelAccess ReadFlippedKernel(const Convolution& c, Access weight);

// The canonical form (traits.h) of an operator that is named like a convolution plus
// "_transpose": that convolution, and its channels moved into place. Nothing if the weight is not
// constant or would grow much, no stride is above 1, taps are dilated, channels are in groups, or
// scales and zero points do not fit.
absl::StatusOr<std::vector<ValueId>> SubpixelConvolution(Graph& graph, const Node& node,
                                                         const std::vector<ValueId>& inputs);

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_TRANSPOSED_CONVOLUTION_H_
