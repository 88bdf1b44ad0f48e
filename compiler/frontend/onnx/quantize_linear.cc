// SPDX-License-Identifier: Apache-2.0
// QuantizeLinear and DequantizeLinear per tensor, per axis and per block, to integers and to floats
// of 8 and 4 bits.
#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/frontend/onnx/formula.h"
#include "compiler/frontend/onnx/pieces.h"
#include "compiler/frontend/onnx/quantized.h"
#include "compiler/frontend/onnx/round_to.h"
#include "compiler/frontend/onnx/storage_types.h"
#include "compiler/frontend/onnx/tensor_proto.h"

namespace kiln::onnx_frontend {
namespace {

// Expands a scale or zero point per block of `size` elements along an axis of x to one per element.
absl::StatusOr<ValueId> OfElements(Converter& c, ValueId of_blocks, ValueId x, int64_t axis,
                                   int64_t size) {
  const Shape shape = c.type(x).shape;
  const auto at = static_cast<size_t>(axis);
  Shape wanted = shape;
  wanted[at] = (shape[at] + size - 1) / size;
  if (c.type(of_blocks).shape != wanted) {
    return Wrong("scales of blocks", c.type(of_blocks).ToString(), ShapeToString(wanted));
  }
  KILN_ASSIGN_OR_RETURN(const ValueId all,
                        c.Op("repeat", {of_blocks}, {{"repeats", size}, {"axis", axis}}));
  return Piece(c, all, axis, 0, shape[at]);
}

// The scale, and the zero point as int32, for each element of x in an operator on blocks.
struct BlockOperands {
  ValueId scale, zero_point;  // may be kNoId, for 0
};
absl::StatusOr<BlockOperands> OperandsOfBlocks(Converter& c, ValueId x) {
  const int64_t size = c.Int("block_size", 0);
  KILN_ASSIGN_OR_RETURN(const int64_t axis, NormalAxis(c.Int("axis", 1), c.type(x).rank()));
  const int64_t extent = std::max<int64_t>(c.type(x).shape[static_cast<size_t>(axis)], 1);
  if (size < 1 || size > extent) {
    return Wrong("block_size", absl::StrCat(size), absl::StrCat("from 1 to ", extent));
  }
  BlockOperands operands = {kNoId, kNoId};
  KILN_ASSIGN_OR_RETURN(const ValueId scale, c.Input(1));
  KILN_ASSIGN_OR_RETURN(operands.scale, OfElements(c, scale, x, axis, size));
  if (c.HasInput(2)) {
    KILN_ASSIGN_OR_RETURN(const ValueId zero, ZeroPoint(c, 2));
    KILN_ASSIGN_OR_RETURN(operands.zero_point, OfElements(c, zero, x, axis, size));
  }
  return operands;
}

absl::StatusOr<ValueId> QuantizedByBlocks(Converter& c, ValueId x, DType dtype) {
  KILN_ASSIGN_OR_RETURN(const BlockOperands operands, OperandsOfBlocks(c, x));
  KILN_ASSIGN_OR_RETURN(const ValueId quotient, c.Op("divide", {x, operands.scale}));
  KILN_ASSIGN_OR_RETURN(const ValueId rounded, c.Apply("Round", {quotient}));
  Formula f(c);
  ValueId y = rounded;
  if (operands.zero_point != kNoId) {
    y = f("add", {y, f.Cast(operands.zero_point, c.type(rounded).dtype)});
  }
  const double most = std::exp2(dtype.is_uint() ? dtype.bits : dtype.bits - 1);
  y = f("clip", {y}, {{"a_min", dtype.is_uint() ? 0.0 : -most}, {"a_max", most - 1}});
  y = f.Cast(y, dtype);
  if (!f.ok()) return f.status();
  return y;
}

absl::StatusOr<ValueId> DequantizedByBlocks(Converter& c, ValueId x) {
  KILN_ASSIGN_OR_RETURN(const BlockOperands operands, OperandsOfBlocks(c, x));
  Formula f(c);
  ValueId y = f.Cast(x, kI32);
  if (operands.zero_point != kNoId) y = f("subtract", {y, operands.zero_point});
  y = f("multiply", {f.Cast(y, c.type(operands.scale).dtype), operands.scale});
  if (!f.ok()) return f.status();
  return y;
}

// Returns the scale (of the tensor, per index of an axis, or per block) in a shape that broadcasts
// to x.
absl::StatusOr<ValueId> ScaleOf(Converter& c, ValueId x) {
  if (c.Int("block_size", 0) != 0) {
    KILN_ASSIGN_OR_RETURN(const BlockOperands operands, OperandsOfBlocks(c, x));
    return operands.scale;
  }
  KILN_ASSIGN_OR_RETURN(const ValueId scale, c.Input(1));
  const TensorType of_scale = c.type(scale);
  if (of_scale.num_elements() == 1) return c.Reshape(scale, {});
  KILN_ASSIGN_OR_RETURN(const int64_t axis, NormalAxis(c.Int("axis", 1), c.type(x).rank()));
  Shape shape(static_cast<size_t>(c.type(x).rank()), 1);
  shape[static_cast<size_t>(axis)] = of_scale.num_elements();
  if (of_scale.rank() > 1) return Wrong("the scale", of_scale.ToString(), "rank 0 or 1");
  return c.Reshape(scale, shape);
}

// Small floats have only the zero point 0.
absl::StatusOr<ValueId> QuantizedToFloats(Converter& c, ValueId x, const StorageType& type) {
  KILN_ASSIGN_OR_RETURN(const ValueId scale, ScaleOf(c, x));
  KILN_ASSIGN_OR_RETURN(const ValueId quotient, c.Op("divide", {x, scale}));
  return RoundTo(type, quotient, c.Int("saturate", 1) != 0, c);
}

absl::StatusOr<ValueId> DequantizedFloats(Converter& c, ValueId x) {
  KILN_ASSIGN_OR_RETURN(const ValueId scale, ScaleOf(c, x));
  Formula f(c);
  const ValueId y = f("multiply", {f.Cast(x, c.type(scale).dtype), scale});
  if (!f.ok()) return f.status();
  return y;
}

// Clips x to the range of integers with fewer bits.
absl::StatusOr<ValueId> ClippedTo(Converter& c, ValueId x, const StorageType& type) {
  const bool is_signed = type.dtype.is_int();
  const double most = std::exp2(is_signed ? type.bits - 1 : type.bits);
  return c.Op("clip", {x}, {{"a_min", is_signed ? -most : 0.0}, {"a_max", most - 1}});
}

absl::Status QuantizeLinear(Converter& c) {
  KILN_ASSIGN_OR_RETURN(ValueId x, c.Input(0));
  DType dtype = DType::UInt(8);
  int stored_as = static_cast<int>(c.Int("output_dtype", 0));
  if (stored_as != 0) {
    KILN_ASSIGN_OR_RETURN(dtype, DTypeOf(stored_as));
  }
  if (c.HasInput(2)) stored_as = c.InputItem(2).stored_as;
  const StorageType* const stored = FindStorageType(stored_as);
  if (c.type(x).dtype.is_integral()) {
    KILN_ASSIGN_OR_RETURN(x, c.Op("cast", {x}, {{"dtype", "float32"}}));
  }
  ValueId y = kNoId;
  if (stored != nullptr && stored->dtype.is_float()) {
    KILN_ASSIGN_OR_RETURN(y, QuantizedToFloats(c, x, *stored));
  } else if (c.Int("block_size", 0) != 0) {
    if (c.HasInput(2)) {
      KILN_ASSIGN_OR_RETURN(const ValueId zero, c.Input(2));
      dtype = c.type(zero).dtype;
    }
    KILN_ASSIGN_OR_RETURN(y, QuantizedByBlocks(c, x, dtype));
  } else {
    KILN_ASSIGN_OR_RETURN(y, Quantized(c, x, 1, c.Int("axis", 1), dtype));
  }
  Item item = y;
  if (stored != nullptr && stored->dtype.is_integral()) {
    KILN_ASSIGN_OR_RETURN(item, ClippedTo(c, y, *stored));
  }
  if (stored != nullptr) item.stored_as = stored_as;
  return c.Output(0, std::move(item));
}

absl::Status DequantizeLinear(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  ValueId y = kNoId;
  if (c.type(x).dtype.is_float()) {
    KILN_ASSIGN_OR_RETURN(y, DequantizedFloats(c, x));
  } else if (c.Int("block_size", 0) != 0) {
    KILN_ASSIGN_OR_RETURN(y, DequantizedByBlocks(c, x));
  } else {
    KILN_ASSIGN_OR_RETURN(y, Dequantized(c, 0, c.Int("axis", 1)));
  }
  DType dtype = c.type(y).dtype;
  if (c.Int("output_dtype", 0) != 0) {
    KILN_ASSIGN_OR_RETURN(dtype, DTypeOf(static_cast<int>(c.Int("output_dtype", 0))));
  }
  Formula f(c);
  return f.Output(0, f.Cast(y, dtype));
}

constexpr OnnxOperator kQuantizeLinearRows[] = {
    {"DequantizeLinear", DequantizeLinear},
    {"DequantizeLinear", DequantizeLinear, nullptr, kMicrosoftDomain},
    {"QuantizeLinear", QuantizeLinear},
    {"QuantizeLinear", QuantizeLinear, nullptr, kMicrosoftDomain},
};

}  // namespace

absl::Span<const OnnxOperator> QuantizeLinearOperators() { return kQuantizeLinearRows; }

}  // namespace kiln::onnx_frontend
