// SPDX-License-Identifier: Apache-2.0
// What transposed convolutions share: geometry, data with room between its places, and the flipped
// weight.
#ifndef KILN_COMPILER_OPS_TRANSPOSED_CONVOLUTION_H_
#define KILN_COMPILER_OPS_TRANSPOSED_CONVOLUTION_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ops/convolution.h"
#include "compiler/ops/op_def.h"

namespace kiln {

// The transposed convolution as an ordinary one, of stride 1 over data with stride-1 zeros between
// its places.
struct Transposed {
  Convolution conv;                   // over the spread data
  std::vector<int64_t> stride;        // of the spread
  std::vector<int64_t> zeros_before;  // before the spread data; negative: places to leave out
  Shape spread;                       // shape of the spread data
};

// Of data and weight of these shapes, from the attributes of MakeConvolution and output_padding;
// constraints 4 to 13.
absl::StatusOr<Transposed> MakeTransposed(const Attrs& attrs, const TensorType& data,
                                          const TensorType& weight, int spatial);
// The documentation of constraints 1 to 13.
std::vector<std::string> TransposedConstraints(int spatial);
// The attributes of a transposed convolution; `out_dtype` says what "" means.
std::vector<AttrSchema> TransposedAttrs(int spatial, std::string out_dtype);

// The stage "spread": `x`, input 0 or what has been made of it, with `zero` between its places and
// around it.
Access Spread(StageBuilder& b, const Access& x, const Transposed& t, const Expr& zero);
// Convolve's access to a weight, from its last tap to its first.
KernelAccess ReadFlippedKernel(const Convolution& c, Access weight);

// The canonical form (traits.h) of an operator whose name is a convolution's and "_transpose": that
// convolution, and its channels moved into place. Nothing where the weight is no constant or would
// grow much, no stride is above 1, taps are spread, or channels are in groups.
absl::StatusOr<std::vector<ValueId>> SubpixelConvolution(Graph& graph, const Node& node,
                                                         const std::vector<ValueId>& inputs);

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_TRANSPOSED_CONVOLUTION_H_
