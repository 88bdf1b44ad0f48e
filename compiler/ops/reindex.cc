// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/reindex.h"

#include "compiler/base/tensor.h"

namespace kiln {

Indices Reindexed(const Indices& index, const Shape& to, const Shape& from) {
  if (NumElements(to) == 0) return Indices(from.size(), Expr(0));  // nothing is read
  Indices result;
  size_t t = 0, f = 0;
  while (t < to.size() || f < from.size()) {
    // The shortest runs of dimensions from t and from f that have the same number of elements.
    size_t t_end = t, f_end = f;
    int64_t t_size = 1, f_size = 1;
    if (t_end < to.size()) t_size = to[t_end++];
    if (f_end < from.size()) f_size = from[f_end++];
    while (t_size != f_size) {
      if (t_size < f_size) {
        t_size *= to[t_end++];
      } else {
        f_size *= from[f_end++];
      }
    }
    Expr linear = 0;
    for (; t < t_end; ++t) {
      if (to[t] != 1) linear = linear * Expr(to[t]) + index[t];
    }
    int64_t inner = f_size;
    bool outermost = true;  // the digit that needs no remainder
    for (; f < f_end; ++f) {
      if (from[f] == 1) {
        result.push_back(Expr(0));
        continue;
      }
      inner /= from[f];
      const Expr digits = inner == 1 ? linear : linear / Expr(inner);
      result.push_back(outermost ? digits : digits % Expr(from[f]));
      outermost = false;
    }
  }
  return result;
}

absl::Status LowerReindex(StageBuilder& b) {
  b.Output(0, [&](const Indices& i) {
    return b.Input(0)(Reindexed(i, b.output_shape(0), b.input_shape(0)));
  });
  return absl::OkStatus();
}

}  // namespace kiln
