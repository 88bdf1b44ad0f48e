// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/broadcast.h"

#include <algorithm>

#include "compiler/ops/constraint.h"

namespace kiln {

absl::StatusOr<Shape> BroadcastShapes(const Shape& a, const Shape& b, int constraint) {
  const size_t rank = std::max(a.size(), b.size());
  Shape result(rank);
  for (size_t d = 0; d < rank; ++d) {  // from the last dimension to the first
    const int64_t x = d < a.size() ? a[a.size() - 1 - d] : 1;
    const int64_t y = d < b.size() ? b[b.size() - 1 - d] : 1;
    KILN_CONSTRAINT(constraint, x == y || x == 1 || y == 1,
                    absl::StrCat(ShapeToString(a), " and ", ShapeToString(b)),
                    "shapes that broadcast to one");
    result[rank - 1 - d] = x == 1 ? y : x;
  }
  return result;
}

Access Broadcast(Access x, Shape shape) {
  return [x = std::move(x), shape = std::move(shape)](const Indices& i) {
    const size_t skipped = i.size() - shape.size();
    Indices index;
    for (size_t d = 0; d < shape.size(); ++d) {
      index.push_back(shape[d] == 1 ? Expr(0) : i[skipped + d]);
    }
    return x(index);
  };
}

}  // namespace kiln
