// SPDX-License-Identifier: Apache-2.0
// Conversions between element types.
#include "compiler/base/status.h"
#include "compiler/frontend/onnx/converter.h"
#include "compiler/frontend/onnx/formula.h"
#include "compiler/frontend/onnx/round_to.h"
#include "compiler/frontend/onnx/storage_types.h"
#include "compiler/frontend/onnx/tensor_proto.h"

namespace kiln::onnx_frontend {
namespace {

// `stored_as` is ONNX's data type. bfloat16 becomes float32 without rounding.
absl::Status CastTo(Converter& c, ValueId x, DType dtype, int stored_as) {
  const StorageType* const stored = FindStorageType(stored_as);
  Item y;
  if (stored == nullptr || stored->bits == 16) {
    Formula f(c);
    y = f.Cast(x, dtype);
    KILN_RETURN_IF_ERROR(f.status());
  } else {
    KILN_ASSIGN_OR_RETURN(y, RoundTo(*stored, x, c.Int("saturate", 1) != 0, c));
  }
  if (stored != nullptr) y.stored_as = stored_as;
  return c.Output(0, std::move(y));
}

absl::Status Cast(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  const int to = static_cast<int>(c.Int("to", 0));
  KILN_ASSIGN_OR_RETURN(const DType dtype, DTypeOf(to));
  return CastTo(c, x, dtype, to);
}

absl::Status CastLike(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const ValueId like, c.Input(1));
  return CastTo(c, x, c.type(like).dtype, c.InputItem(1).stored_as);
}

// A bool is cast, as it is a byte of 0 or 1.
absl::Status BitCast(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const DType dtype, DTypeOf(static_cast<int>(c.Int("to", 0))));
  const bool from_bool = c.type(x).dtype == DType::Bool();
  if (from_bool && dtype.bits != 8) {
    return Wrong("to", dtype.ToString(), "a type of 8 bits, as the input has");
  }
  return c.Output(0, c.Op(from_bool ? "cast" : "reinterpret", {x}, {{"dtype", dtype.ToString()}}));
}

constexpr OnnxOperator kCastRows[] = {{"BitCast", BitCast}, {"Cast", Cast}, {"CastLike", CastLike}};

}  // namespace

absl::Span<const OnnxOperator> CastOperators() { return kCastRows; }

}  // namespace kiln::onnx_frontend
