// SPDX-License-Identifier: Apache-2.0
// Fixed-point arithmetic of the loop IR: rounding_mul_high and rounding_shr.
#include <cstdint>
#include <limits>
#include <vector>

#include "compiler/codegen/llvm/function_emitter.h"
#include "llvm/IR/Intrinsics.h"

namespace kiln::codegen {
namespace {

constexpr uint64_t kHalf = uint64_t{1} << 30;
constexpr int64_t kLowest = std::numeric_limits<int32_t>::min();
constexpr int64_t kHighest = std::numeric_limits<int32_t>::max();

bool MayBeNegative(llvm::Value* value) {
  const llvm::ConstantInt* constant = SplatInt(value);
  return constant == nullptr || constant->isNegative();
}

}  // namespace

llvm::Value* FunctionEmitter::EmitRoundingMulHigh(llvm::Value* a, llvm::Value* b) {
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(a->getType());
  if (vector == nullptr) {
    const auto wide = [&](llvm::Value* x) { return builder_.CreateSExt(x, types_.i64); };
    llvm::Value* product = builder_.CreateAdd(builder_.CreateMul(wide(a), wide(b)),
                                              llvm::ConstantInt::get(types_.i64, kHalf));
    return builder_.CreateTrunc(builder_.CreateLShr(product, 31), types_.i32);
  }
  if (vector->getNumElements() == 4 && machine_.traits.rounding_mul_high != 0) {
    llvm::Value* result =
        builder_.CreateIntrinsic(a->getType(), machine_.traits.rounding_mul_high, {a, b});
    if (!MayBeNegative(a) || !MayBeNegative(b)) return result;
    // The instruction saturates, and gives the highest number for nothing else.
    llvm::Value* saturated = builder_.CreateICmpEQ(
        result, llvm::ConstantInt::get(a->getType(), static_cast<uint64_t>(kHighest), true));
    llvm::Value* lowest =
        llvm::ConstantInt::get(a->getType(), static_cast<uint64_t>(kLowest), true);
    return builder_.CreateSelect(saturated, lowest, result);
  }
  return EmitRoundingMulHighByHalves(a, b);
}

// The products of even and of odd lanes, each in the 64 bits of two lanes: machines multiply such
// lanes in one instruction, and no lane has to move.
llvm::Value* FunctionEmitter::EmitRoundingMulHighByHalves(llvm::Value* a, llvm::Value* b) {
  const unsigned lanes = llvm::cast<llvm::FixedVectorType>(a->getType())->getNumElements();
  auto* pairs = llvm::FixedVectorType::get(types_.i64, lanes / 2);
  const auto odd = [&](llvm::Value* x) {
    return builder_.CreateAShr(builder_.CreateBitCast(x, pairs), 32);
  };
  const auto even = [&](llvm::Value* x) {
    return builder_.CreateAShr(builder_.CreateShl(builder_.CreateBitCast(x, pairs), 32), 32);
  };
  llvm::Value* half = llvm::ConstantInt::get(pairs, kHalf);
  llvm::Value* low = builder_.CreateAdd(builder_.CreateMul(even(a), even(b)), half);
  llvm::Value* high = builder_.CreateAdd(builder_.CreateMul(odd(a), odd(b)), half);
  // The result is in bits 31 to 62.
  low = builder_.CreateBitCast(builder_.CreateLShr(low, 31), a->getType());
  high = builder_.CreateBitCast(builder_.CreateShl(high, 1), a->getType());
  std::vector<int> mask(lanes);
  for (unsigned l = 0; l < lanes; ++l) mask[l] = static_cast<int>(l % 2 == 0 ? l : l + lanes);
  return builder_.CreateShuffleVector(low, high, mask);
}

// By the magnitude, whose half and itself fit an unsigned number together.
llvm::Value* FunctionEmitter::EmitRoundingShr(llvm::Value* a, llvm::Value* amount) {
  llvm::Type* type = a->getType();
  llvm::Value* half =
      builder_.CreateLShr(builder_.CreateShl(llvm::ConstantInt::get(type, 1), amount), 1);
  llvm::Value* magnitude =
      builder_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, a, builder_.getFalse());
  llvm::Value* rounded = builder_.CreateLShr(builder_.CreateAdd(magnitude, half), amount);
  llvm::Value* negative = builder_.CreateICmpSLT(a, llvm::Constant::getNullValue(type));
  return builder_.CreateSelect(negative, builder_.CreateNeg(rounded), rounded);
}

}  // namespace kiln::codegen
