// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/testing/product.h"

namespace kiln::schedule {

Kernel Product(int64_t m, int64_t k, int64_t n, Columns columns, DType dtype,
               Expr (*epilogue)(Expr)) {
  const bool transposed =
      columns == Columns::kConstantTransposed || columns == Columns::kInputTransposed;
  const bool constant = columns == Columns::kConstant || columns == Columns::kConstantTransposed;
  const Shape shape = transposed ? Shape{n, k} : Shape{k, n};
  const Buffer x = Param("x", dtype, {m, k}), out = Param("out", dtype, {m, n});
  const Buffer sum = epilogue == nullptr ? out : Workspace("sum", dtype, {m, n});
  const loop::Constant weights = MakeConstant("w", dtype, shape);
  const Buffer y = constant ? weights.buffer : Param("y", dtype, shape);
  Kernel kernel{.name = "f", .inputs = {x}, .outputs = {out}, .constants = {}, .stages = {}};
  if (constant) {
    kernel.constants = {weights};
  } else {
    kernel.inputs.push_back(y);
  }
  kernel.stages.push_back(Reduce(sum, {k}, Combine::kSum, [&](const Index& i, const Index& r) {
    return MakeLoad(x, {i[0], r[0]}) *
           MakeLoad(y, transposed ? Index{i[1], r[0]} : Index{r[0], i[1]});
  }));
  if (epilogue != nullptr) {
    kernel.stages.push_back(
        Pointwise(out, [&](const Index& i) { return epilogue(MakeLoad(sum, i)); }));
  }
  return kernel;
}

Expr Relu(Expr x) { return loop::Max(x, loop::Const(x.type(), 0)); }

}  // namespace kiln::schedule
