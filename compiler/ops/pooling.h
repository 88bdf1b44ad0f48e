// SPDX-License-Identifier: Apache-2.0
// Attributes and geometry that pooling operators of every kind share, and the
// stage that reduces windows.
#ifndef KILN_COMPILER_OPS_POOLING_H_
#define KILN_COMPILER_OPS_POOLING_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ops/op_def.h"
#include "compiler/ops/window.h"

namespace kiln {

struct Pool {
  DataLayout layout;
  Window window;
};

// The attributes of pooling over `spatial` dimensions, and constraints 1 to 6, which MakePool
// checks.
std::vector<AttrSchema> PoolAttrs(int spatial);
std::vector<std::string> PoolConstraints();
absl::StatusOr<Pool> MakePool(const Attrs& attrs, const TensorType& data, int spatial);

// Reduces the windows of input 0 with `combine` in `dtype`. Padding is the neutral element.
Access ReduceWindows(StageBuilder& b, const Pool& pool, loop::Combine combine, DType dtype);

// Number of taps that count in the window at index `i` of the result: the taps in data, or with
// `include_pad` those in data and its padding; at least 1.
Expr CountTaps(const Pool& pool, const Indices& i, bool include_pad);

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_POOLING_H_
