// SPDX-License-Identifier: Apache-2.0
// Conversions between float16, which is i16 everywhere else, and float: by the machine's
// instructions, or by arithmetic with the same bits.
#include <cstdint>

#include "compiler/codegen/llvm/function_emitter.h"

namespace kiln::codegen {
namespace {

// Bit patterns of float32.
constexpr uint32_t kHalfOfOne = 0x3f000000;       // 0.5; its last place is float16's least step
constexpr uint32_t kSmallestNormal = 0x38800000;  // 2^-14, float16's smallest normal number
constexpr uint32_t kBeyondLargest = 0x47800000;   // 2^16
constexpr uint32_t kInfinity = 0x7f800000;
// Difference of the exponent biases of float32 and float16, in the position of float32's exponent.
constexpr uint32_t kBiasDifference = (127 - 15) << 23;
constexpr uint64_t kFloat16MissingBits = 23 - 10;  // bits of the fraction that float16 lacks

}  // namespace

llvm::Value* FunctionEmitter::EmitFloatFromHalf(llvm::Value* half) {
  llvm::Type* floats = TypeLike(half, builder_.getFloatTy());
  if (machine_.traits.converts_float16) {
    llvm::Type* halves = TypeLike(half, builder_.getHalfTy());
    return builder_.CreateFPExt(builder_.CreateBitCast(half, halves), floats);
  }
  llvm::Type* words = TypeLike(half, types_.i32);
  auto constant = [words](uint64_t value) { return llvm::ConstantInt::get(words, value); };
  llvm::Value* bits = builder_.CreateZExt(half, words);
  llvm::Value* magnitude = builder_.CreateAnd(bits, constant(0x7fff));
  llvm::Value* sign = builder_.CreateShl(builder_.CreateAnd(bits, constant(0x8000)), 16);
  llvm::Value* shifted = builder_.CreateShl(magnitude, kFloat16MissingBits);
  llvm::Value* normal = builder_.CreateAdd(shifted, constant(kBiasDifference));
  llvm::Value* not_finite = builder_.CreateOr(shifted, constant(kInfinity));
  // A number in [0.5, 1) with `magnitude` as its fraction.
  llvm::Value* above_half =
      builder_.CreateBitCast(builder_.CreateAdd(magnitude, constant(kHalfOfOne)), floats);
  llvm::Value* subnormal = builder_.CreateBitCast(
      builder_.CreateFSub(above_half, llvm::ConstantFP::get(floats, 0.5)), words);
  llvm::Value* finite =
      builder_.CreateSelect(builder_.CreateICmpUGE(magnitude, constant(0x400)), normal, subnormal);
  llvm::Value* result = builder_.CreateSelect(builder_.CreateICmpUGE(magnitude, constant(0x7c00)),
                                              not_finite, finite);
  return builder_.CreateBitCast(builder_.CreateOr(result, sign), floats);
}

llvm::Value* FunctionEmitter::EmitHalfFromFloat(llvm::Value* x) {
  if (machine_.traits.converts_float16) {
    llvm::Type* halves = TypeLike(x, builder_.getHalfTy());
    return builder_.CreateBitCast(builder_.CreateFPTrunc(x, halves), TypeLike(x, types_.i16));
  }
  llvm::Type* words = TypeLike(x, types_.i32);
  auto constant = [words](uint64_t value) { return llvm::ConstantInt::get(words, value); };
  llvm::Value* bits = builder_.CreateBitCast(x, words);
  llvm::Value* magnitude = builder_.CreateAnd(bits, constant(0x7fffffff));
  llvm::Value* sign = builder_.CreateAnd(builder_.CreateLShr(bits, 16), constant(0x8000));
  // Adds half a unit in the last remaining place, less one if that place is even. The carry may
  // reach the exponent, up to infinity.
  llvm::Value* last_place =
      builder_.CreateAnd(builder_.CreateLShr(magnitude, kFloat16MissingBits), constant(1));
  llvm::Value* rounded =
      builder_.CreateAdd(builder_.CreateAdd(magnitude, constant(0xfff)), last_place);
  llvm::Value* normal = builder_.CreateLShr(builder_.CreateSub(rounded, constant(kBiasDifference)),
                                            kFloat16MissingBits);
  // The addition rounds to the last place of 0.5.
  llvm::Value* above_half = builder_.CreateFAdd(builder_.CreateBitCast(magnitude, x->getType()),
                                                llvm::ConstantFP::get(x->getType(), 0.5));
  llvm::Value* subnormal =
      builder_.CreateSub(builder_.CreateBitCast(above_half, words), constant(kHalfOfOne));
  llvm::Value* finite = builder_.CreateSelect(
      builder_.CreateICmpUGE(magnitude, constant(kSmallestNormal)), normal, subnormal);
  llvm::Value* not_finite = builder_.CreateSelect(
      builder_.CreateICmpUGT(magnitude, constant(kInfinity)), constant(0x7e00), constant(0x7c00));
  llvm::Value* result = builder_.CreateSelect(
      builder_.CreateICmpUGE(magnitude, constant(kBeyondLargest)), not_finite, finite);
  return builder_.CreateTrunc(builder_.CreateOr(result, sign), TypeLike(x, types_.i16));
}

}  // namespace kiln::codegen
