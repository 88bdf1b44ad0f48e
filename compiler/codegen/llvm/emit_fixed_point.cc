// SPDX-License-Identifier: Apache-2.0
// Fixed-point arithmetic of the loop IR: rounding_mul_high, rounding_mul_top, rounding_shr and saturate_….
#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "compiler/codegen/llvm/function_emitter.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Intrinsics.h"

namespace kiln::codegen {
namespace {

// Of a vector that an instruction of AArch64 narrows another to.
constexpr unsigned kNarrowBits = 64;
constexpr uint64_t kHalf = uint64_t{1} << 30;
constexpr int64_t kLowest = std::numeric_limits<int32_t>::min();
constexpr int64_t kHighest = std::numeric_limits<int32_t>::max();

bool MayBeNegative(llvm::Value* value) {
  const llvm::ConstantInt* constant = SplatInt(value);
  return constant == nullptr || constant->isNegative();
}

// Bits `shift` to `shift` + 31 of a * b + `plus`, of int32.
llvm::Value* BitsOfProduct(llvm::IRBuilder<>& builder, llvm::Value* a, llvm::Value* b,
                           uint64_t plus, uint64_t shift) {
  llvm::Type* wide = a->getType()->getWithNewType(builder.getInt64Ty());
  llvm::Value* product =
      builder.CreateMul(builder.CreateSExt(a, wide), builder.CreateSExt(b, wide));
  product = builder.CreateAdd(product, llvm::ConstantInt::get(wide, plus));
  return builder.CreateTrunc(builder.CreateLShr(product, shift), a->getType());
}

// True if lanes can be taken in pairs.
bool HasPairs(const llvm::FixedVectorType* vector) {
  return vector != nullptr && vector->getNumElements() % 2 == 0;
}

}  // namespace

llvm::Value* FunctionEmitter::EmitRoundingMulHigh(llvm::Value* a, llvm::Value* b) {
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(a->getType());
  if (!HasPairs(vector)) return BitsOfProduct(builder_, a, b, kHalf, 31);
  if (vector->getNumElements() == 4 && machine_.traits.rounding_mul_high != 0) {
    llvm::Value* result =
        builder_.CreateIntrinsic(a->getType(), machine_.traits.rounding_mul_high, {a, b});
    if (!MayBeNegative(a) || !MayBeNegative(b)) return result;
    // The instruction saturates the lowest number by itself: of equal factors, it gives the highest
    // number for no others.
    llvm::Value* saturated = builder_.CreateAnd(
        builder_.CreateICmpEQ(a, b),
        builder_.CreateICmpEQ(
            result, llvm::ConstantInt::get(a->getType(), static_cast<uint64_t>(kHighest), true)));
    llvm::Value* lowest =
        llvm::ConstantInt::get(a->getType(), static_cast<uint64_t>(kLowest), true);
    return builder_.CreateSelect(saturated, lowest, result);
  }
  // The result is in bits 31 to 62.
  const auto [low, high] = ProductsByHalves(a, b, kHalf);
  return EvenAndOddLanes(builder_.CreateLShr(low, 31), builder_.CreateShl(high, 1), a->getType());
}

// Products, plus a number, of even and of odd lanes, each in the 64 bits of two lanes: machines
// multiply such lanes in one instruction, and no lane has to move.
std::pair<llvm::Value*, llvm::Value*> FunctionEmitter::ProductsByHalves(llvm::Value* a,
                                                                        llvm::Value* b,
                                                                        uint64_t plus) {
  const unsigned lanes = llvm::cast<llvm::FixedVectorType>(a->getType())->getNumElements();
  auto* pairs = llvm::FixedVectorType::get(types_.i64, lanes / 2);
  const auto odd = [&](llvm::Value* x) {
    return builder_.CreateAShr(builder_.CreateBitCast(x, pairs), 32);
  };
  const auto even = [&](llvm::Value* x) {
    return builder_.CreateAShr(builder_.CreateShl(builder_.CreateBitCast(x, pairs), 32), 32);
  };
  llvm::Value* number = llvm::ConstantInt::get(pairs, plus);
  return {builder_.CreateAdd(builder_.CreateMul(even(a), even(b)), number),
          builder_.CreateAdd(builder_.CreateMul(odd(a), odd(b)), number)};
}

// The lanes of `even` that are even, the lanes of `odd` that are odd.
llvm::Value* FunctionEmitter::EvenAndOddLanes(llvm::Value* even, llvm::Value* odd,
                                              llvm::Type* type) {
  const unsigned lanes = llvm::cast<llvm::FixedVectorType>(type)->getNumElements();
  std::vector<int> mask(lanes);
  for (unsigned l = 0; l < lanes; ++l) mask[l] = static_cast<int>(l % 2 == 0 ? l : l + lanes);
  return builder_.CreateShuffleVector(builder_.CreateBitCast(even, type),
                                      builder_.CreateBitCast(odd, type), mask);
}

// The odd lanes of `even`, each moved to the lane before it, between those of `odd`.
llvm::Value* FunctionEmitter::OddLanes(llvm::Value* even, llvm::Value* odd, llvm::Type* type) {
  const unsigned lanes = llvm::cast<llvm::FixedVectorType>(type)->getNumElements();
  std::vector<int> mask(lanes);
  for (unsigned l = 0; l < lanes; ++l) mask[l] = static_cast<int>(l % 2 == 0 ? l + 1 : l + lanes);
  return builder_.CreateShuffleVector(builder_.CreateBitCast(even, type),
                                      builder_.CreateBitCast(odd, type), mask);
}

llvm::Value* FunctionEmitter::EmitRoundingMulTop(llvm::Value* a, llvm::Value* b) {
  llvm::Type* type = a->getType();
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  if (vector == nullptr) {  // Arm's SMMULR, as LLVM finds it
    const auto wide = [&](llvm::Value* x) {
      const bool hides = machine_.traits.multiplies_upper_words && llvm::isa<llvm::Constant>(x);
      return builder_.CreateSExt(hides ? Hidden(x) : x, types_.i64);
    };
    llvm::Value* product = builder_.CreateAdd(builder_.CreateMul(wide(a), wide(b)),
                                              llvm::ConstantInt::get(types_.i64, 2 * kHalf));
    llvm::Value* top = builder_.CreateTrunc(builder_.CreateLShr(product, 32), types_.i32);
    auto* instruction = llvm::dyn_cast<llvm::Instruction>(top);
    if (machine_.traits.multiplies_upper_words && instruction != nullptr) {
      upper_words_.push_back(instruction);
    }
    return top;
  }
  if (vector->getNumElements() == 4 && machine_.traits.rounding_mul_top != 0) {
    return builder_.CreateIntrinsic(type, machine_.traits.rounding_mul_top,
                                    {a, b, builder_.getInt32(0)});
  }
  if (!HasPairs(vector)) return BitsOfProduct(builder_, a, b, 2 * kHalf, 32);
  const auto [low, high] = ProductsByHalves(a, b, 2 * kHalf);
  if (machine_.traits.permutes_lanes) return OddLanes(low, high, type);
  return EvenAndOddLanes(builder_.CreateLShr(low, 32), high, type);
}

// LLVM puts SMMLAR in the place of SMMULR and an addition, even where the product is needed besides.
// Such a product is multiplied once.
void FunctionEmitter::KeepSharedUpperWords() {
  for (llvm::Instruction* top : upper_words_) {
    if (!top->hasNUsesOrMore(2)) continue;
    builder_.SetInsertPoint(top->getNextNode());
    llvm::Value* kept = Hidden(top);
    top->replaceUsesWithIf(kept, [&](const llvm::Use& use) { return use.getUser() != kept; });
  }
}

// The value in a register, of which LLVM knows nothing.
llvm::Value* FunctionEmitter::Hidden(llvm::Value* value) {
  auto* type = llvm::FunctionType::get(value->getType(), {value->getType()}, /*isVarArg=*/false);
  auto* same = llvm::InlineAsm::get(type, "", "=r,0", /*hasSideEffects=*/false);
  return builder_.CreateCall(type, same, {value});
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

llvm::Value* FunctionEmitter::EmitSaturate(DType to, llvm::Value* a) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(a->getType());
  if (machine_.traits.saturating_narrow != 0 && vector != nullptr &&
      vector->getNumElements() % 4 == 0) {
    // What is below the lowest number of int16 or above its highest is beyond those of bytes too.
    llvm::Value* halves = to.bits == 8 ? EmitNarrow(DType::Int(16), a) : a;
    return builder_.CreateIntCast(EmitNarrow(to, halves), a->getType(), to.is_int());
  }
  const auto limit = [&](int64_t value) {
    return llvm::ConstantInt::get(a->getType(), static_cast<uint64_t>(value), /*IsSigned=*/true);
  };
  llvm::Value* at_most = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, a,
                                                        limit(static_cast<int64_t>(to.MaxInt())));
  return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, at_most, limit(to.MinInt()));
}

// A vector of signed integers of twice the bits of `to`, limited to its values.
llvm::Value* FunctionEmitter::EmitNarrow(DType to, llvm::Value* a) {
  const unsigned lanes = llvm::cast<llvm::FixedVectorType>(a->getType())->getNumElements();
  const unsigned bits = static_cast<unsigned>(to.bits), of_one = kNarrowBits / bits;
  auto* type = llvm::FixedVectorType::get(builder_.getIntNTy(bits), of_one);
  const llvm::Intrinsic::ID narrow = to.is_uint() ? machine_.traits.saturating_narrow_to_unsigned
                                                  : machine_.traits.saturating_narrow;
  std::vector<llvm::Value*> parts;
  for (unsigned first = 0; first < lanes; first += of_one) {
    const unsigned there = std::min(lanes - first, of_one);
    llvm::Value* part =
        builder_.CreateShuffleVector(a, llvm::createSequentialMask(first, there, of_one - there));
    parts.push_back(builder_.CreateIntrinsic(narrow, {type}, {part}));
  }
  return builder_.CreateShuffleVector(llvm::concatenateVectors(builder_, parts),
                                      llvm::createSequentialMask(0, lanes, 0));
}

}  // namespace kiln::codegen
