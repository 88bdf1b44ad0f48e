// SPDX-License-Identifier: Apache-2.0
// bfloat16, which is i16 everywhere else. Conversions use the machine's instruction, or arithmetic
// with the same bits. Products without an instruction are computed one by one.
#include <cstdint>

#include "compiler/codegen/llvm/function_emitter.h"
#include "compiler/loop/bfloat16.h"
#include "llvm/IR/Intrinsics.h"

namespace kiln::codegen {
namespace {

// Masks of float32's bits.
constexpr uint64_t kExponent = 0x7f800000, kSign = 0x80000000;
constexpr uint64_t kQuiet = 0x40;              // in the fraction of a NaN of bfloat16
constexpr uint64_t kBFloat16MissingBits = 16;  // bits of the fraction that bfloat16 lacks

unsigned LanesOf(llvm::Value* value) {
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
  return vector == nullptr ? 1 : vector->getNumElements();
}

}  // namespace

llvm::Value* FunctionEmitter::EmitFloatFromBFloat(llvm::Value* bits) {
  llvm::Value* words = builder_.CreateZExt(bits, TypeLike(bits, types_.i32));
  return builder_.CreateBitCast(builder_.CreateShl(words, kBFloat16MissingBits),
                                TypeLike(bits, builder_.getFloatTy()));
}

llvm::Value* FunctionEmitter::EmitBFloatFromFloat(llvm::Value* x) {
  llvm::Type* narrow = TypeLike(x, types_.i16);
  const MachineTraits& traits = machine_.traits;
  const llvm::Intrinsic::ID conversion = LanesOf(x) == 16  ? traits.bfloat_of_16_lanes
                                         : LanesOf(x) == 8 ? traits.bfloat_of_8_lanes
                                                           : llvm::Intrinsic::ID(0);
  if (conversion != 0) {
    llvm::FunctionType* declared = llvm::Intrinsic::getType(builder_.getContext(), conversion);
    return builder_.CreateBitCast(
        builder_.CreateIntrinsic(declared->getReturnType(), conversion, {x}), narrow);
  }
  llvm::Type* words = TypeLike(x, types_.i32);
  auto constant = [words](uint64_t value) { return llvm::ConstantInt::get(words, value); };
  llvm::Value* bits = builder_.CreateBitCast(x, words);
  llvm::Value* upper = builder_.CreateLShr(bits, kBFloat16MissingBits);
  // Adds half a unit in the last remaining place, less one if that place is even. The carry may
  // reach the exponent, up to infinity.
  llvm::Value* last_place = builder_.CreateAnd(upper, constant(1));
  llvm::Value* rounded = builder_.CreateLShr(
      builder_.CreateAdd(builder_.CreateAdd(bits, constant(0x7fff)), last_place),
      kBFloat16MissingBits);
  llvm::Value* is_nan = builder_.CreateFCmpUNO(x, x);
  llvm::Value* is_small =
      builder_.CreateICmpEQ(builder_.CreateAnd(bits, constant(kExponent)), constant(0));
  llvm::Value* zero = builder_.CreateAnd(upper, constant(kSign >> kBFloat16MissingBits));
  llvm::Value* number = builder_.CreateSelect(is_small, zero, rounded);
  llvm::Value* result =
      builder_.CreateSelect(is_nan, builder_.CreateOr(upper, constant(kQuiet)), number);
  return builder_.CreateTrunc(result, narrow);
}

loop::Expr FunctionEmitter::Bound(const char* name, DType dtype, llvm::Value* value) {
  const loop::Var var =
      loop::MakeVar(name, loop::Type::Of(dtype, static_cast<int>(LanesOf(value))));
  vars_[var.get()] = value;
  return var;
}

llvm::Value* FunctionEmitter::EmitBFloatProduct(llvm::Value* a, llvm::Value* b, llvm::Value* sum) {
  made_.push_back(loop::AddBFloatProduct(Bound("sum", DType::Float(32), sum),
                                         Bound("a", DType::BFloat(), a),
                                         Bound("b", DType::BFloat(), b)));
  return EmitExpr(made_.back());
}

llvm::Value* FunctionEmitter::EmitSumOfBFloats(llvm::Value* sum, llvm::Value* apart) {
  made_.push_back(loop::AddSumOfBFloats(Bound("sum", DType::Float(32), sum),
                                        Bound("apart", DType::Float(32), apart)));
  return EmitExpr(made_.back());
}

}  // namespace kiln::codegen
