// SPDX-License-Identifier: Apache-2.0
// The builders of conversions, loads and vectors.
#include "absl/strings/str_cat.h"
#include "compiler/loop/check.h"
#include "compiler/loop/expr.h"
#include "compiler/loop/expr_node.h"
#include "compiler/loop/scalar.h"

namespace kiln::loop {

Expr MakeCast(Type type, Expr a) {
  KILN_CHECK(a && type.lanes == a.type().lanes,
             absl::StrCat("cast of ", a.type().ToString(), " to ", type.ToString()));
  if (a.type() == type) return a;
  UnaryKernel kernel = FindCastKernel(a.type().dtype, type.dtype);
  // float16 and bfloat16 are only converted to and from float32.
  if (kernel == nullptr) return MakeCast(type, MakeCast(DType::Float(32), std::move(a)));
  Scalar value, out;
  if (AsScalar(a, &value)) {
    kernel(1, &value, &out);
    return FromScalar(type, out);
  }
  if (const Broadcast* broadcast = a.As<Broadcast>()) {
    return MakeBroadcast(MakeCast(type.WithLanes(1), broadcast->a), type.lanes);
  }
  return NewExpr(type, Cast{std::move(a)});
}

Expr MakeCast(DType dtype, Expr a) {
  const int lanes = a.type().lanes;
  return MakeCast(Type::Of(dtype, lanes), std::move(a));
}

Expr ToIndex(Expr a) {
  KILN_CHECK(a.type().dtype.is_integral(), absl::StrCat("index of type ", a.type().ToString()));
  const int lanes = a.type().lanes;
  return MakeCast(Type::Index(lanes), std::move(a));
}

Expr MakeBitcast(DType dtype, Expr a) {
  const Type type = Type::Of(dtype, a.type().lanes);
  if (a.type() == type) return a;
  UnaryKernel kernel = FindBitcastKernel(a.type().dtype, dtype);
  KILN_CHECK(kernel != nullptr,
             absl::StrCat("bitcast of ", a.type().ToString(), " to ", type.ToString()));
  Scalar value, out;
  if (AsScalar(a, &value)) {
    kernel(1, &value, &out);
    return FromScalar(type, out);
  }
  if (const Broadcast* broadcast = a.As<Broadcast>()) {
    return MakeBroadcast(MakeBitcast(dtype, broadcast->a), type.lanes);
  }
  if (const Bitcast* inner = a.As<Bitcast>()) return MakeBitcast(dtype, inner->a);
  return NewExpr(type, Bitcast{std::move(a)});
}

int LanesOfAccess(const Buffer& buffer, const std::vector<Expr>& index) {
  KILN_CHECK(index.size() == buffer->shape.size() || index.size() == 1,
             absl::StrCat(index.size(), " indices of ", buffer->name, ", which has ",
                          buffer->shape.size(), " dimensions"));
  int lanes = 1;
  for (const Expr& i : index) {
    KILN_CHECK(i && i.type().index, absl::StrCat("an index of ", buffer->name, " of type ",
                                                 i ? i.type().ToString() : "none"));
    if (i.type().is_vector()) lanes = i.type().lanes;
  }
  return lanes;
}

Expr MakeLoad(Buffer buffer, std::vector<Expr> index) {
  const int lanes = LanesOfAccess(buffer, index);
  bool uniform = lanes > 1;
  for (Expr& i : index) {
    i = WithLanes(std::move(i), lanes);
    uniform = uniform && i.As<Broadcast>() != nullptr;
  }
  if (uniform) {
    for (Expr& i : index) i = Expr(i.As<Broadcast>()->a);
    return MakeBroadcast(MakeLoad(std::move(buffer), std::move(index)), lanes);
  }
  const Type type = Type::Of(buffer->dtype, lanes);
  return NewExpr(type, Load{std::move(buffer), std::move(index)});
}

Expr MakeRamp(Expr base, int64_t stride, int lanes) {
  KILN_CHECK(base && base.type() == Type::Index() && lanes >= 1,
             absl::StrCat("ramp of ", lanes, " lanes over ", base.type().ToString()));
  if (lanes == 1) return base;
  if (stride == 0) return MakeBroadcast(std::move(base), lanes);
  return NewExpr(Type::Index(lanes), Ramp{std::move(base), stride, lanes});
}

Expr MakeBroadcast(Expr a, int lanes) {
  KILN_CHECK(a && !a.type().is_vector() && lanes >= 1,
             absl::StrCat("broadcast of ", a.type().ToString(), " to ", lanes, " lanes"));
  if (lanes == 1) return a;
  const Type type = a.type().WithLanes(lanes);
  return NewExpr(type, Broadcast{std::move(a), lanes});
}

}  // namespace kiln::loop
