// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/order_key.h"

#include <cmath>
#include <cstring>

namespace kiln {

using loop::Expr;

DType OrderKeyType(DType dtype) { return DType::Int(dtype.bits == 64 ? 64 : 32); }

Expr OrderKey(const Expr& x) {
  const bool wide = x.type().dtype.bits == 64;
  const loop::Type type = loop::Type::Of(OrderKeyType(x.type().dtype));
  const int64_t infinity = wide ? int64_t{0x7ff} << 52 : 0xff << 23;
  const Expr bits = loop::MakeBitcast(type.dtype, x);
  const Expr magnitude =
      loop::MakeBinary(loop::BinaryOp::kAnd, bits, loop::IntConst(type, type.dtype.MaxInt()));
  const Expr key = loop::MakeSelect(bits < loop::IntConst(type, 0), -magnitude, magnitude);
  return loop::MakeSelect(magnitude > loop::IntConst(type, infinity),
                          loop::IntConst(type, type.dtype.MaxInt()), key);
}

int64_t OrderKey(double x, DType dtype) {
  if (std::isnan(x)) return OrderKeyType(dtype).MaxInt();
  int64_t magnitude = 0;
  if (dtype.bits == 64) {
    const double absolute = std::fabs(x);
    std::memcpy(&magnitude, &absolute, sizeof(absolute));
  } else {
    const float absolute = std::fabs(static_cast<float>(x));
    int32_t bits = 0;
    std::memcpy(&bits, &absolute, sizeof(absolute));
    magnitude = bits;
  }
  return std::signbit(x) ? -magnitude : magnitude;
}

}  // namespace kiln
