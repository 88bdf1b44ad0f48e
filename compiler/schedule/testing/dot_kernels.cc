// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/testing/dot_kernels.h"

namespace kiln::schedule {

Target FirmwareTarget(int vector_bits) {
  Target target = VectorTarget(vector_bits);
  target.SetBaremetal();
  return target;
}

Kernel Dense(int64_t m, int64_t k, int64_t n, DType of_x, const Weights& weights) {
  const Buffer x = Param("x", of_x, {m, k}), out = Param("out", kI32, {m, n});
  const loop::Constant w = Numbers(weights.dtype, {n, k}, weights.least, weights.most);
  return {.name = "f",
          .inputs = {x},
          .outputs = {out},
          .constants = {w},
          .stages = {Reduce(out, {k}, Combine::kSum, [&](const Index& i, const Index& r) {
            return Product(MakeLoad(x, {i[0], r[0]}), MakeLoad(w.buffer, {i[1], r[0]}));
          })}};
}

Kernel Convolution(const Conv& c, DType of_x, const Weights& weights) {
  const int64_t padded_h = c.height + 2 * c.pad, padded_w = c.width + 2 * c.pad;
  const int64_t h = (padded_h - c.kernel) / c.stride + 1, w = (padded_w - c.kernel) / c.stride + 1;
  const Buffer x = Param("x", of_x, {c.height, c.width, c.channels});
  const Buffer padded = Workspace("pad", of_x, {padded_h, padded_w, c.channels});
  const Buffer sum = Workspace("sum", kI32, {h, w, c.outputs});
  const Buffer out = Param("out", kI32, {h, w, c.outputs});
  const loop::Constant weight = Numbers(weights.dtype, {c.kernel, c.kernel, c.channels, c.outputs},
                                        weights.least, weights.most);
  Kernel kernel{.name = "f", .inputs = {x}, .outputs = {out}, .constants = {weight}, .stages = {}};
  kernel.stages.push_back(Pad(x, padded, c.pad));
  kernel.stages.push_back(Reduce(
      sum, {c.kernel, c.kernel, c.channels}, Combine::kSum, [&](const Index& i, const Index& r) {
        return Product(
            MakeLoad(padded, {i[0] * Expr(c.stride) + r[0], i[1] * Expr(c.stride) + r[1], r[2]}),
            MakeLoad(weight.buffer, {r[0], r[1], r[2], i[2]}));
      }));
  kernel.stages.push_back(Pointwise(out, [&](const Index& i) {
    return loop::Max(MakeLoad(sum, i), loop::IntConst(loop::Type::Of(kI32), 0));
  }));
  return kernel;
}

}  // namespace kiln::schedule
