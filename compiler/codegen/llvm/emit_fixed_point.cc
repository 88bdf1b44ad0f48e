// SPDX-License-Identifier: Apache-2.0
// Fixed-point arithmetic of the loop IR: rounding_mul_high, rounding_mul_top, rounding_shr and
// saturate_….
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

// Bits of the result of a narrowing instruction on AArch64.
constexpr unsigned kNarrowBits = 64;
constexpr uint64_t kHalf = uint64_t{1} << 30;
constexpr int64_t kLowest = std::numeric_limits<int32_t>::min();
constexpr int64_t kHighest = std::numeric_limits<int32_t>::max();

bool MayBeNegative(llvm::Value* value) {
  const llvm::ConstantInt* constant = SplatInt(value);
  return constant == nullptr || constant->isNegative();
}

// Bits `shift` to `shift` + 31 of a * b + `plus`, for int32.
llvm::Value* BitsOfProduct(llvm::IRBuilder<>& builder, llvm::Value* a, llvm::Value* b,
                           uint64_t plus, uint64_t shift) {
  llvm::Type* wide = a->getType()->getWithNewType(builder.getInt64Ty());
  llvm::Value* product =
      builder.CreateMul(builder.CreateSExt(a, wide), builder.CreateSExt(b, wide));
  product = builder.CreateAdd(product, llvm::ConstantInt::get(wide, plus));
  return builder.CreateTrunc(builder.CreateLShr(product, shift), a->getType());
}

// True if the vector has an even number of lanes.
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
    // The instruction saturates if both factors are the lowest number. No other pair of equal
    // factors gives the highest number.
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

// Products plus a number, for even and for odd lanes, each in the 64 bits of two lanes. Machines
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

// Combines the even lanes of `even` with the odd lanes of `odd`.
llvm::Value* FunctionEmitter::EvenAndOddLanes(llvm::Value* even, llvm::Value* odd,
                                              llvm::Type* type) {
  const unsigned lanes = llvm::cast<llvm::FixedVectorType>(type)->getNumElements();
  std::vector<int> mask(lanes);
  for (unsigned l = 0; l < lanes; ++l) mask[l] = static_cast<int>(l % 2 == 0 ? l : l + lanes);
  return builder_.CreateShuffleVector(builder_.CreateBitCast(even, type),
                                      builder_.CreateBitCast(odd, type), mask);
}

// The odd lanes of `even`, each moved to the lane before it, between the odd lanes of `odd`.
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
  if (vector == nullptr) {  // LLVM recognizes this as Arm's SMMULR
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

// LLVM replaces SMMULR and an addition by SMMLAR, even if the product has other uses. This keeps
// such a product from being computed twice.
void FunctionEmitter::KeepSharedUpperWords() {
  for (llvm::Instruction* top : upper_words_) {
    if (!top->hasNUsesOrMore(2)) continue;
    builder_.SetInsertPoint(top->getNextNode());
    llvm::Value* kept = Hidden(top);
    top->replaceUsesWithIf(kept, [&](const llvm::Use& use) { return use.getUser() != kept; });
  }
}

// Returns the value in a register, hidden from LLVM's optimizations.
llvm::Value* FunctionEmitter::Hidden(llvm::Value* value) {
  auto* type = llvm::FunctionType::get(value->getType(), {value->getType()}, /*isVarArg=*/false);
  auto* same = llvm::InlineAsm::get(type, "", "=r,0", /*hasSideEffects=*/false);
  return builder_.CreateCall(type, same, {value});
}

// Rounds the magnitude: the sum of it and the half fits into an unsigned number.
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
    // Numbers outside of the range of int16 are outside of the range of bytes, too, so bytes are
    // narrowed in two steps.
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

// Saturates a vector of signed integers that have twice the bits of `to`.
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
