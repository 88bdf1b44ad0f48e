// SPDX-License-Identifier: Apache-2.0
// Arithmetic of the loop IR. Every operation has the meaning of loop/expr.h, to the bit.
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/codegen/llvm/function_emitter.h"
#include "llvm/IR/Intrinsics.h"

namespace kiln::codegen {
namespace {

using loop::BinaryOp;
using loop::CompareOp;
using loop::UnaryOp;

llvm::CmpInst::Predicate FloatPredicate(CompareOp op) {
  switch (op) {
    case CompareOp::kEq:
      return llvm::CmpInst::FCMP_OEQ;
    case CompareOp::kNe:
      return llvm::CmpInst::FCMP_UNE;
    case CompareOp::kLt:
      return llvm::CmpInst::FCMP_OLT;
    case CompareOp::kLe:
      return llvm::CmpInst::FCMP_OLE;
    case CompareOp::kGt:
      return llvm::CmpInst::FCMP_OGT;
    case CompareOp::kGe:
      break;
  }
  return llvm::CmpInst::FCMP_OGE;
}

llvm::CmpInst::Predicate IntPredicate(CompareOp op, bool is_signed) {
  switch (op) {
    case CompareOp::kEq:
      return llvm::CmpInst::ICMP_EQ;
    case CompareOp::kNe:
      return llvm::CmpInst::ICMP_NE;
    case CompareOp::kLt:
      return is_signed ? llvm::CmpInst::ICMP_SLT : llvm::CmpInst::ICMP_ULT;
    case CompareOp::kLe:
      return is_signed ? llvm::CmpInst::ICMP_SLE : llvm::CmpInst::ICMP_ULE;
    case CompareOp::kGt:
      return is_signed ? llvm::CmpInst::ICMP_SGT : llvm::CmpInst::ICMP_UGT;
    case CompareOp::kGe:
      break;
  }
  return is_signed ? llvm::CmpInst::ICMP_SGE : llvm::CmpInst::ICMP_UGE;
}

// Combines pairs of int16 to 32-bit words, by conversions, a shift and an OR. For wide vectors on
// x86, moving lanes takes more and slower instructions.
llvm::Value* PairedInWords(llvm::IRBuilder<>& builder, llvm::Value* low, llvm::Value* high) {
  auto* type = llvm::cast<llvm::FixedVectorType>(low->getType());
  auto* words = llvm::VectorType::getExtendedElementVectorType(type);
  // A value that was extended to int16 is extended only once, to 32 bits.
  const auto widened = [&](llvm::Value* value) {
    auto* extended = llvm::dyn_cast<llvm::SExtInst>(value);
    return builder.CreateSExt(extended == nullptr ? value : extended->getOperand(0), words);
  };
  llvm::Value* mask = llvm::ConstantInt::get(words, 0xffff);
  llvm::Value* pairs =
      builder.CreateOr(builder.CreateAnd(widened(low), mask), builder.CreateShl(widened(high), 16));
  return builder.CreateBitCast(
      pairs, llvm::FixedVectorType::get(type->getElementType(), 2 * type->getNumElements()));
}

// Interleaves the lanes of the operands. An even number of operands is interleaved as two halves,
// as machines have instructions for that.
llvm::Value* Interleaved(llvm::IRBuilder<>& builder, const std::vector<llvm::Value*>& operands) {
  const size_t count = operands.size();
  auto* type = llvm::dyn_cast<llvm::FixedVectorType>(operands[0]->getType());
  if (type == nullptr) {
    llvm::Type* element = operands[0]->getType();
    llvm::Value* vector =
        llvm::PoisonValue::get(llvm::FixedVectorType::get(element, static_cast<unsigned>(count)));
    for (size_t i = 0; i < count; ++i) {
      vector = builder.CreateInsertElement(vector, operands[i], uint64_t{i});
    }
    return vector;
  }
  if (count == 1) return operands[0];
  const auto lanes = static_cast<int>(count * type->getNumElements());
  if (count % 2 == 1) {
    auto* all = llvm::FixedVectorType::get(type->getElementType(), static_cast<unsigned>(lanes));
    llvm::Value* vector = llvm::PoisonValue::get(all);
    for (uint64_t i = 0; i < static_cast<uint64_t>(lanes); ++i) {
      llvm::Value* element = builder.CreateExtractElement(operands[i % count], i / count);
      vector = builder.CreateInsertElement(vector, element, i);
    }
    return vector;
  }
  std::array<std::vector<llvm::Value*>, 2> halves;
  for (size_t i = 0; i < count; ++i) halves[i % 2].push_back(operands[i]);
  llvm::Value* even = Interleaved(builder, halves[0]);
  llvm::Value* odd = Interleaved(builder, halves[1]);
  std::vector<int> mask(static_cast<size_t>(lanes));
  for (int i = 0; i < lanes; ++i) mask[static_cast<size_t>(i)] = i / 2 + i % 2 * (lanes / 2);
  return builder.CreateShuffleVector(even, odd, mask);
}

// Helium has no division of vectors. For two lanes LLVM would use int64, and call the compiler's
// library.
llvm::Value* DivideByLanes(llvm::IRBuilder<>& builder, llvm::Instruction::BinaryOps opcode,
                           llvm::Value* a, llvm::Value* b) {
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(a->getType());
  if (vector == nullptr) return builder.CreateBinOp(opcode, a, b);
  llvm::Value* result = llvm::PoisonValue::get(vector);
  for (uint64_t lane = 0; lane < vector->getNumElements(); ++lane) {
    llvm::Value* value = builder.CreateBinOp(opcode, builder.CreateExtractElement(a, lane),
                                             builder.CreateExtractElement(b, lane));
    result = builder.CreateInsertElement(result, value, lane);
  }
  return result;
}

}  // namespace

llvm::Value* FunctionEmitter::EmitExpr(const loop::Expr& e) {
  if (auto it = vars_.find(e.get()); it != vars_.end()) return it->second;
  if (auto it = memo_.find(e.get()); it != memo_.end()) return it->second;
  llvm::Value* value = EmitNode(e);
  memo_[e.get()] = value;
  return value;
}

llvm::Value* FunctionEmitter::EmitNode(const loop::Expr& e) {
  const loop::Type& type = e.type();
  llvm::Type* llvm_type = types_.Value(type);
  if (const auto* node = e.As<loop::IntImm>()) {
    return llvm::ConstantInt::get(llvm_type, static_cast<uint64_t>(node->value),
                                  /*IsSigned=*/true);
  }
  if (const auto* node = e.As<loop::FloatImm>()) {
    if (type.dtype.bits == 16) {
      const auto value = static_cast<float>(node->value);
      return llvm::ConstantInt::get(
          llvm_type, type.dtype.is_bfloat() ? BFloatFromFloat(value) : HalfFromFloat(value));
    }
    if (std::isnan(node->value)) {
      // Any NaN will do. A comparison on x86 sets all bits, which is a NaN, so that a select of
      // this one takes one instruction.
      llvm::APInt ones = llvm::APInt::getAllOnes(static_cast<unsigned>(type.dtype.bits));
      return llvm::ConstantFP::getQNaN(llvm_type, /*Negative=*/true, &ones);
    }
    return llvm::ConstantFP::get(llvm_type, node->value);
  }
  if (const auto* node = e.As<loop::VarNode>()) {
    context_.Fail(absl::StrCat("variable ", node->name, " of ", func_.name, " is not bound"));
    return Poison(type);
  }
  if (const auto* node = e.As<loop::Unary>()) return EmitUnary(*node, type);
  if (const auto* node = e.As<loop::Binary>()) return EmitBinary(*node, type);
  if (const auto* node = e.As<loop::Dot>()) return EmitDot(*node, type);
  if (const auto* node = e.As<loop::Interleave>()) {
    std::vector<llvm::Value*> operands;
    for (const loop::Expr& operand : node->operands) operands.push_back(EmitExpr(operand));
    const bool in_words = machine_.traits.pairs_in_words && operands.size() == 2 &&
                          type.dtype.bits == 16 && type.lanes >= 16;
    return in_words ? PairedInWords(builder_, operands[0], operands[1])
                    : Interleaved(builder_, operands);
  }
  if (const auto* node = e.As<loop::Fma>()) return EmitFma(*node, type);
  if (const auto* node = e.As<loop::Compare>()) return EmitCompare(*node);
  if (const auto* node = e.As<loop::Select>()) {
    llvm::Value* condition = EmitExpr(node->condition);
    llvm::Value* if_true = EmitExpr(node->if_true);
    return builder_.CreateSelect(condition, if_true, EmitExpr(node->if_false));
  }
  if (const auto* node = e.As<loop::Cast>()) return EmitCast(*node, type);
  if (const auto* node = e.As<loop::Bitcast>()) {
    return builder_.CreateBitCast(EmitExpr(node->a), llvm_type);
  }
  if (const auto* node = e.As<loop::Load>()) return EmitLoad(*node, type);
  if (const auto* node = e.As<loop::Ramp>()) return EmitRamp(*node, type);
  const auto* node = e.As<loop::Broadcast>();
  return builder_.CreateVectorSplat(node->lanes, EmitExpr(node->a));
}

llvm::Value* FunctionEmitter::EmitRamp(const loop::Ramp& node, const loop::Type& type) {
  llvm::Value* base = EmitExpr(node.base);
  std::vector<llvm::Constant*> steps;
  for (int i = 0; i < node.lanes; ++i) {
    steps.push_back(llvm::ConstantInt::get(types_.Value(type)->getScalarType(), i * node.stride,
                                           /*IsSigned=*/true));
  }
  return builder_.CreateNSWAdd(builder_.CreateVectorSplat(node.lanes, base),
                               llvm::ConstantVector::get(steps));
}

llvm::Value* FunctionEmitter::EmitUnary(const loop::Unary& node, const loop::Type& type) {
  llvm::Value* a = EmitExpr(node.a);
  const DType dtype = type.dtype;
  switch (node.op) {
    case UnaryOp::kNeg:
      if (dtype.is_float()) return builder_.CreateFNeg(a);
      return type.index ? builder_.CreateNSWNeg(a) : builder_.CreateNeg(a);
    case UnaryOp::kAbs:
      if (dtype.is_float()) return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, a);
      if (!dtype.is_int()) return a;
      return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, a, builder_.getFalse());
    case UnaryOp::kNot:
      return builder_.CreateNot(a);
    case UnaryOp::kSqrt:
      return EmitSqrt(dtype, a);
    case UnaryOp::kFloor:
    case UnaryOp::kCeil:
    case UnaryOp::kTrunc:
    case UnaryOp::kRoundEven:
      break;
    case UnaryOp::kSaturateInt8:
    case UnaryOp::kSaturateUint8:
    case UnaryOp::kSaturateInt16:
    case UnaryOp::kSaturateUint16:
      return EmitSaturate(*loop::SaturationOf(node.op), a);
  }
  return dtype.is_float() ? EmitRound(node.op, dtype, a) : a;
}

llvm::Value* FunctionEmitter::EmitBinary(const loop::Binary& node, const loop::Type& type) {
  llvm::Value* a = EmitExpr(node.a);
  llvm::Value* b = EmitExpr(node.b);
  if (type.dtype.is_float()) return EmitFloatBinary(node.op, a, b);
  if (type.dtype.is_bool()) return EmitBoolBinary(node.op, a, b);
  return EmitIntBinary(node.op, type, a, b);
}

llvm::Value* FunctionEmitter::EmitFloatBinary(BinaryOp op, llvm::Value* a, llvm::Value* b) {
  switch (op) {
    case BinaryOp::kAdd:
      return builder_.CreateFAdd(a, b);
    case BinaryOp::kSub:
      return builder_.CreateFSub(a, b);
    case BinaryOp::kMul:
      return builder_.CreateFMul(a, b);
    case BinaryOp::kDiv:
      return builder_.CreateFDiv(a, b);
    case BinaryOp::kMin:
      return builder_.CreateSelect(builder_.CreateFCmpOLT(b, a), b, a);
    case BinaryOp::kMax:
      return builder_.CreateSelect(builder_.CreateFCmpOGT(b, a), b, a);
    default:
      context_.Fail("operation on integers applied to floats");
      return a;
  }
}

llvm::Value* FunctionEmitter::EmitBoolBinary(BinaryOp op, llvm::Value* a, llvm::Value* b) {
  switch (op) {
    case BinaryOp::kAnd:
    case BinaryOp::kMul:
    case BinaryOp::kMin:
      return builder_.CreateAnd(a, b);
    case BinaryOp::kOr:
    case BinaryOp::kMax:
      return builder_.CreateOr(a, b);
    case BinaryOp::kXor:
      return builder_.CreateXor(a, b);
    default:
      context_.Fail("arithmetic on bools");
      return a;
  }
}

llvm::Value* FunctionEmitter::EmitIntBinary(BinaryOp op, const loop::Type& type, llvm::Value* a,
                                            llvm::Value* b) {
  const bool is_signed = type.dtype.is_int();
  const bool nsw = type.index;
  switch (op) {
    case BinaryOp::kAdd:
      return builder_.CreateAdd(a, b, "", /*HasNUW=*/false, nsw);
    case BinaryOp::kSub:
      return builder_.CreateSub(a, b, "", /*HasNUW=*/false, nsw);
    case BinaryOp::kMul:
      return builder_.CreateMul(a, b, "", /*HasNUW=*/false, nsw);
    case BinaryOp::kDiv:
    case BinaryOp::kMod:
      return EmitDivision(op, type, a, b);
    case BinaryOp::kMin:
      return builder_.CreateBinaryIntrinsic(
          is_signed ? llvm::Intrinsic::smin : llvm::Intrinsic::umin, a, b);
    case BinaryOp::kMax:
      return builder_.CreateBinaryIntrinsic(
          is_signed ? llvm::Intrinsic::smax : llvm::Intrinsic::umax, a, b);
    case BinaryOp::kAnd:
      return builder_.CreateAnd(a, b);
    case BinaryOp::kOr:
      return builder_.CreateOr(a, b);
    case BinaryOp::kXor:
      return builder_.CreateXor(a, b);
    case BinaryOp::kRoundingMulHigh:
      return EmitRoundingMulHigh(a, b);
    case BinaryOp::kRoundingMulTop:
      return EmitRoundingMulTop(a, b);
    case BinaryOp::kShl:
    case BinaryOp::kShr:
    case BinaryOp::kRoundingShr:
      break;
  }
  llvm::Type* llvm_type = a->getType();
  llvm::Value* amount = builder_.CreateAnd(
      b, llvm::ConstantInt::get(llvm_type, llvm_type->getScalarSizeInBits() - 1));
  if (op == BinaryOp::kShl) return builder_.CreateShl(a, amount);
  if (op == BinaryOp::kRoundingShr) return EmitRoundingShr(a, amount);
  return is_signed ? builder_.CreateAShr(a, amount) : builder_.CreateLShr(a, amount);
}

llvm::Value* FunctionEmitter::EmitDivision(BinaryOp op, const loop::Type& type, llvm::Value* a,
                                           llvm::Value* b) {
  const bool is_signed = type.dtype.is_int();
  const bool divide = op == BinaryOp::kDiv;
  const llvm::Instruction::BinaryOps opcode =
      divide ? (is_signed ? llvm::Instruction::SDiv : llvm::Instruction::UDiv)
             : (is_signed ? llvm::Instruction::SRem : llvm::Instruction::URem);
  auto raw = [&](llvm::Value* divisor) {
    return machine_.target.vector_float ? builder_.CreateBinOp(opcode, a, divisor)
                                        : DivideByLanes(builder_, opcode, a, divisor);
  };
  const llvm::ConstantInt* constant = SplatInt(b);
  if (constant != nullptr && !constant->isZero() && !(is_signed && constant->isMinusOne())) {
    return raw(b);
  }
  // LLVM leaves x / 0 and MIN / -1 undefined. The code divides by 1 instead, and then selects the
  // result.
  llvm::Type* llvm_type = a->getType();
  llvm::Value* zero = llvm::ConstantInt::get(llvm_type, 0);
  llvm::Value* one = llvm::ConstantInt::get(llvm_type, 1);
  llvm::Value* by_zero = builder_.CreateICmpEQ(b, zero);
  if (!is_signed || type.index) {
    llvm::Value* result = raw(builder_.CreateSelect(by_zero, one, b));
    // x % 1 is 0 already.
    return divide ? builder_.CreateSelect(by_zero, zero, result) : result;
  }
  llvm::Value* by_minus_one = builder_.CreateICmpEQ(b, llvm::Constant::getAllOnesValue(llvm_type));
  llvm::Value* unsafe = builder_.CreateOr(by_zero, by_minus_one);
  llvm::Value* result = raw(builder_.CreateSelect(unsafe, one, b));
  if (!divide) return result;
  result = builder_.CreateSelect(by_minus_one, builder_.CreateNeg(a), result);
  return builder_.CreateSelect(by_zero, zero, result);
}

llvm::Value* FunctionEmitter::EmitCompare(const loop::Compare& node) {
  llvm::Value* a = EmitExpr(node.a);
  llvm::Value* b = EmitExpr(node.b);
  const DType dtype = node.a.type().dtype;
  if (dtype.is_float()) return builder_.CreateFCmp(FloatPredicate(node.op), a, b);
  return builder_.CreateICmp(IntPredicate(node.op, dtype.is_int()), a, b);
}

llvm::Value* FunctionEmitter::EmitFma(const loop::Fma& node, const loop::Type& type) {
  llvm::Value* a = EmitExpr(node.a);
  llvm::Value* b = EmitExpr(node.b);
  llvm::Value* c = EmitExpr(node.c);
  const bool single = type.dtype == DType::Float(32);
  if (single ? machine_.traits.fma_float32 : machine_.traits.fma_float64) {
    return builder_.CreateIntrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, b, c});
  }
  if (single) return EmitFmaInDouble(a, b, c);
  context_.FailUnimplemented(
      absl::StrCat("no fused multiply-add of ", type.dtype.ToString(), ", in ", func_.name));
  return a;
}

}  // namespace kiln::codegen
