// SPDX-License-Identifier: Apache-2.0
// Conversions between types, and rounding, roots and fused products for machines that lack the
// instructions.
#include <cmath>
#include <cstdint>
#include <optional>

#include "compiler/codegen/llvm/function_emitter.h"
#include "compiler/codegen/llvm/software_sqrt.h"
#include "llvm/IR/Intrinsics.h"

namespace kiln::codegen {
namespace {

using loop::BinaryOp;
using loop::Expr;

// The number that `e` is in all lanes, or nothing.
std::optional<double> Number(Expr e) {
  while (const auto* broadcast = e.As<loop::Broadcast>()) e = broadcast->a;
  const auto* number = e.As<loop::FloatImm>();
  return number == nullptr ? std::nullopt : std::optional<double>(number->value);
}

const loop::Binary* AsBound(const Expr& e, BinaryOp op) {
  const auto* binary = e.As<loop::Binary>();
  return binary != nullptr && binary->op == op ? binary : nullptr;
}

// True if `e` is max(min(x, high), low) or min(max(x, low), high), with bounds that fit into a
// signed integer of `bits` bits. `e` may still be NaN.
bool IsClamped(const Expr& e, int bits) {
  for (const BinaryOp op : {BinaryOp::kMin, BinaryOp::kMax}) {
    const loop::Binary* outer = AsBound(e, op);
    if (outer == nullptr) continue;
    const loop::Binary* inner =
        AsBound(outer->a, op == BinaryOp::kMin ? BinaryOp::kMax : BinaryOp::kMin);
    if (inner == nullptr) continue;
    const std::optional<double> one = Number(outer->b), other = Number(inner->b);
    const double limit = std::ldexp(1, bits - 1);
    return one.has_value() && other.has_value() && std::abs(*one) < limit &&
           std::abs(*other) < limit;
  }
  return false;
}

}  // namespace

llvm::Value* FunctionEmitter::EmitFloatToInt(const Expr& source, llvm::Value* a,
                                             const loop::Type& type) {
  llvm::Type* to = types_.Value(type);
  const bool clamped = type.dtype.is_int() && IsClamped(source, type.dtype.bits);
  const bool by_lanes = type.is_vector() && type.dtype.is_int() && machine_.traits.casts_by_lane;
  if (!clamped && !by_lanes) {
    const auto id = type.dtype.is_int() ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
    return ByLanes(a, to, [&](llvm::Value* x, llvm::Type* result) {
      return builder_.CreateIntrinsic(id, {result, x->getType()}, {x});
    });
  }
  llvm::Value* zero = llvm::Constant::getNullValue(a->getType());
  if (clamped) {
    // The selection follows the conversion, so that it can become the mask of that instruction.
    llvm::Value* number = builder_.CreateFCmpORD(a, zero);
    llvm::Value* whole = ByLanes(a, to, [&](llvm::Value* x, llvm::Type* result) {
      return builder_.CreateFPToSI(x, result);
    });
    return builder_.CreateSelect(number, whole, llvm::Constant::getNullValue(to));
  }
  // LLVM would convert one lane after the other.
  const unsigned bits = static_cast<unsigned>(type.dtype.bits);
  const double limit = std::ldexp(1, type.dtype.bits - 1);
  llvm::Value* low = builder_.CreateFCmpOLT(a, llvm::ConstantFP::get(a->getType(), -limit));
  llvm::Value* high = builder_.CreateFCmpOGE(a, llvm::ConstantFP::get(a->getType(), limit));
  llvm::Value* inside = builder_.CreateAnd(builder_.CreateFCmpORD(a, zero),
                                           builder_.CreateNot(builder_.CreateOr(low, high)));
  llvm::Value* whole = builder_.CreateFPToSI(builder_.CreateSelect(inside, a, zero), to);
  whole = builder_.CreateSelect(
      low, llvm::ConstantInt::get(to, llvm::APInt::getSignedMinValue(bits)), whole);
  return builder_.CreateSelect(
      high, llvm::ConstantInt::get(to, llvm::APInt::getSignedMaxValue(bits)), whole);
}

llvm::Value* FunctionEmitter::EmitCast(const loop::Cast& node, const loop::Type& type) {
  llvm::Value* a = EmitExpr(node.a);
  const DType from = node.a.type().dtype;
  const DType to = type.dtype;
  llvm::Type* llvm_type = types_.Value(type);
  constexpr DType kHalf = DType::Float(16);
  if (from == kHalf) return EmitFloatFromHalf(a);
  if (to == kHalf) return EmitHalfFromFloat(a);
  if (from.is_bfloat()) return EmitFloatFromBFloat(a);
  if (to.is_bfloat()) return EmitBFloatFromFloat(a);
  if (a->getType() == llvm_type) return a;
  if (to.is_bool()) {
    llvm::Value* zero = llvm::Constant::getNullValue(a->getType());
    return from.is_float() ? builder_.CreateFCmpUNE(a, zero) : builder_.CreateICmpNE(a, zero);
  }
  if (from.is_float() && to.is_float()) return builder_.CreateFPCast(a, llvm_type);
  if (from.is_float()) return EmitFloatToInt(node.a, a, type);
  if (to.is_float()) {
    return ByLanes(a, llvm_type, [&](llvm::Value* x, llvm::Type* result) {
      return from.is_int() ? builder_.CreateSIToFP(x, result) : builder_.CreateUIToFP(x, result);
    });
  }
  return builder_.CreateIntCast(a, llvm_type, from.is_int());
}

llvm::Value* FunctionEmitter::ByLanes(
    llvm::Value* a, llvm::Type* to,
    llvm::function_ref<llvm::Value*(llvm::Value* x, llvm::Type* result)> convert) {
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(to);
  if (vector == nullptr || machine_.target.vector_float) return convert(a, to);
  llvm::Value* result = llvm::PoisonValue::get(to);
  for (uint64_t lane = 0; lane < vector->getNumElements(); ++lane) {
    llvm::Value* value = convert(builder_.CreateExtractElement(a, lane), vector->getElementType());
    result = builder_.CreateInsertElement(result, value, lane);
  }
  return result;
}

llvm::Value* FunctionEmitter::EmitRound(loop::UnaryOp op, DType dtype, llvm::Value* x) {
  using loop::UnaryOp;
  const bool single = dtype.bits == 32;
  if (single ? machine_.traits.rounds_float32 : machine_.traits.rounds_float64) {
    llvm::Intrinsic::ID id =
        machine_.traits.round_even_is_rint ? llvm::Intrinsic::rint : llvm::Intrinsic::roundeven;
    if (op == UnaryOp::kFloor) id = llvm::Intrinsic::floor;
    if (op == UnaryOp::kCeil) id = llvm::Intrinsic::ceil;
    if (op == UnaryOp::kTrunc) id = llvm::Intrinsic::trunc;
    return builder_.CreateUnaryIntrinsic(id, x);
  }
  // Floats from 2^23 (2^52) on are whole.
  llvm::Type* type = x->getType();
  llvm::Value* limit = llvm::ConstantFP::get(type, single ? 0x1p23 : 0x1p52);
  llvm::Value* magnitude = builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
  llvm::Value* has_fraction = builder_.CreateFCmpOLT(magnitude, limit);
  // Adding and subtracting `limit` rounds to nearest even, in the addition.
  llvm::Value* nearest = builder_.CreateFSub(builder_.CreateFAdd(magnitude, limit), limit);
  llvm::Value* one = llvm::ConstantFP::get(type, 1.0);
  auto step = [&](llvm::Value* condition, llvm::Value* moved, llvm::Value* kept) {
    return builder_.CreateSelect(condition, moved, kept);
  };
  llvm::Value* rounded = nearest;
  if (op == UnaryOp::kTrunc) {
    rounded = step(builder_.CreateFCmpOGT(nearest, magnitude), builder_.CreateFSub(nearest, one),
                   nearest);
  } else if (op != UnaryOp::kRoundEven) {
    llvm::Value* whole = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, nearest, x);
    rounded = op == UnaryOp::kFloor
                  ? step(builder_.CreateFCmpOGT(whole, x), builder_.CreateFSub(whole, one), whole)
                  : step(builder_.CreateFCmpOLT(whole, x), builder_.CreateFAdd(whole, one), whole);
  }
  // A zero has the sign of x.
  rounded = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, rounded, x);
  return builder_.CreateSelect(has_fraction, rounded, x);
}

llvm::Value* FunctionEmitter::EmitFmaInDouble(llvm::Value* a, llvm::Value* b, llvm::Value* c) {
  // a * b is exact in double. The sum is rounded to odd, so that only the second rounding, to
  // float, has an effect (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums",
  // 2008). Its error is computed by Knuth's two-sum.
  llvm::Type* wide = llvm::Type::getDoubleTy(builder_.getContext());
  llvm::Type* bits = types_.i64;
  if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(a->getType())) {
    wide = llvm::FixedVectorType::get(wide, vector->getNumElements());
    bits = llvm::FixedVectorType::get(bits, vector->getNumElements());
  }
  llvm::Value* addend = builder_.CreateFPExt(c, wide);
  llvm::Value* product =
      builder_.CreateFMul(builder_.CreateFPExt(a, wide), builder_.CreateFPExt(b, wide));
  llvm::Value* sum = builder_.CreateFAdd(product, addend);
  llvm::Value* addend_part = builder_.CreateFSub(sum, product);
  llvm::Value* product_part = builder_.CreateFSub(sum, addend_part);
  llvm::Value* error = builder_.CreateFAdd(builder_.CreateFSub(product, product_part),
                                           builder_.CreateFSub(addend, addend_part));
  llvm::Value* zero = llvm::ConstantFP::get(wide, 0.0);
  llvm::Value* inexact = builder_.CreateFCmpONE(error, zero);
  llvm::Value* sum_bits = builder_.CreateBitCast(sum, bits);
  llvm::Value* even =
      builder_.CreateICmpEQ(builder_.CreateAnd(sum_bits, llvm::ConstantInt::get(bits, 1)),
                            llvm::ConstantInt::get(bits, 0));
  // Away from zero if the error has the sign of the sum, otherwise towards zero. The neighbor is
  // odd in both cases.
  llvm::Value* same_sign =
      builder_.CreateICmpSGE(builder_.CreateXor(sum_bits, builder_.CreateBitCast(error, bits)),
                             llvm::ConstantInt::get(bits, 0));
  llvm::Value* neighbour =
      builder_.CreateAdd(sum_bits, builder_.CreateSelect(same_sign, llvm::ConstantInt::get(bits, 1),
                                                         llvm::Constant::getAllOnesValue(bits)));
  llvm::Value* odd = builder_.CreateSelect(builder_.CreateAnd(inexact, even), neighbour, sum_bits);
  return builder_.CreateFPTrunc(builder_.CreateBitCast(odd, wide), a->getType());
}

llvm::Value* FunctionEmitter::EmitSqrt(DType dtype, llvm::Value* x) {
  const bool single = dtype.bits == 32;
  if (single ? machine_.traits.sqrt_float32 : machine_.traits.sqrt_float64) {
    return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x);
  }
  llvm::Function* root = SoftwareSqrt(context_, dtype);
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(x->getType());
  if (vector == nullptr) return builder_.CreateCall(root, {x});
  llvm::Value* result = llvm::PoisonValue::get(vector);
  for (unsigned lane = 0; lane < vector->getNumElements(); ++lane) {
    llvm::Value* value = builder_.CreateCall(root, {builder_.CreateExtractElement(x, lane)});
    result = builder_.CreateInsertElement(result, value, lane);
  }
  return result;
}

}  // namespace kiln::codegen
