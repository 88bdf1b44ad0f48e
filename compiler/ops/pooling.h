// SPDX-License-Identifier: Apache-2.0
// What pooling of every kind shares: attributes, geometry, and the stage that reduces windows.
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

// The attributes of pooling over so many spatial dimensions, and constraints 1 to 6, which MakePool
// checks.
std::vector<AttrSchema> PoolAttrs(int spatial);
std::vector<std::string> PoolConstraints();
absl::StatusOr<Pool> MakePool(const Attrs& attrs, const TensorType& data, int spatial);

// The windows of input 0 reduced with `combine` in `dtype`; padding is neutral.
Access ReduceWindows(StageBuilder& b, const Pool& pool, loop::Combine combine, DType dtype);

// Taps of the window at index `i` of the result that count: those in data, or those in data and its
// padding; at least one.
Expr CountTaps(const Pool& pool, const Indices& i, bool include_pad);

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_POOLING_H_
