// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/llvm/software_sqrt.h"

#include <string>

#include "absl/strings/str_cat.h"

namespace kiln::codegen {
namespace {

// Emits the function for float32 or float64. `digits_` is the number of stored mantissa bits.
class SqrtEmitter {
 public:
  SqrtEmitter(ModuleContext& context, llvm::Function* function, bool single)
      : function_(function),
        builder_(llvm::BasicBlock::Create(context.module.getContext(), "entry", function)),
        digits_(single ? 23 : 52),
        bias_(single ? 127 : 1023),
        word_(single ? context.types.i32 : context.types.i64),
        wide_(single ? static_cast<llvm::Type*>(context.types.i64) : builder_.getInt128Ty()) {}

  void Emit() {
    llvm::Value* x = function_->getArg(0);
    auto* finite = NewBlock("finite");
    auto* special = NewBlock("special");
    // 0 and infinity are their own roots. A NaN stays one, and negative numbers give one.
    llvm::Type* type = x->getType();
    llvm::Value* ordinary =
        builder_.CreateAnd(builder_.CreateFCmpOGT(x, llvm::ConstantFP::get(type, 0.0)),
                           builder_.CreateFCmpOLT(x, llvm::ConstantFP::getInfinity(type)));
    builder_.CreateCondBr(ordinary, finite, special);
    builder_.SetInsertPoint(special);
    llvm::Value* negative = builder_.CreateFCmpOLT(x, llvm::ConstantFP::get(type, 0.0));
    builder_.CreateRet(builder_.CreateSelect(negative, llvm::ConstantFP::getNaN(type), x));
    builder_.SetInsertPoint(finite);
    EmitFinite(builder_.CreateBitCast(x, word_), type);
  }

 private:
  // x = mantissa * 2^(exponent - digits), with an even exponent and 2^digits <= mantissa <
  // 2^(digits + 2).
  void EmitFinite(llvm::Value* word, llvm::Type* type) {
    llvm::Value* fraction = builder_.CreateAnd(word, Word((int64_t{1} << digits_) - 1));
    llvm::Value* field = builder_.CreateLShr(word, digits_);
    llvm::Value* subnormal = builder_.CreateIsNull(field);
    llvm::Value* leading_zeros =
        builder_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, fraction, builder_.getFalse());
    const int word_bits = word_->getScalarSizeInBits();
    llvm::Value* shift = builder_.CreateAnd(
        builder_.CreateSub(leading_zeros, Word(word_bits - 1 - digits_)), Word(word_bits - 1));
    llvm::Value* mantissa =
        builder_.CreateSelect(subnormal, builder_.CreateShl(fraction, shift),
                              builder_.CreateOr(fraction, Word(int64_t{1} << digits_)));
    llvm::Value* biased =
        builder_.CreateSelect(subnormal, builder_.CreateSub(Word(1), shift), field);
    llvm::Value* exponent = builder_.CreateSub(biased, Word(bias_));
    llvm::Value* odd = builder_.CreateAnd(exponent, Word(1));
    mantissa = builder_.CreateShl(mantissa, odd);
    exponent = builder_.CreateSub(exponent, odd);

    // One bit more than the mantissa has. That bit decides the rounding, because the root of a
    // float is never halfway between two floats.
    llvm::Value* root =
        EmitIntegerRoot(builder_.CreateShl(builder_.CreateZExt(mantissa, wide_), digits_ + 2));
    llvm::Value* rounded =
        builder_.CreateLShr(builder_.CreateAdd(builder_.CreateTrunc(root, word_), Word(1)), 1);
    llvm::Value* half = builder_.CreateAShr(exponent, 1);
    // The mantissa's leading bit adds one to the exponent field.
    llvm::Value* result = builder_.CreateAdd(
        builder_.CreateShl(builder_.CreateAdd(half, Word(bias_ - 1)), digits_), rounded);
    builder_.CreateRet(builder_.CreateBitCast(result, type));
  }

  // Floor of the root of an integer with 2 * digits + 4 bits, digit by digit.
  llvm::Value* EmitIntegerRoot(llvm::Value* radicand) {
    auto* before = builder_.GetInsertBlock();
    auto* loop = NewBlock("digit");
    auto* done = NewBlock("done");
    builder_.CreateBr(loop);
    builder_.SetInsertPoint(loop);
    llvm::PHINode* rest = builder_.CreatePHI(wide_, 2);
    llvm::PHINode* root = builder_.CreatePHI(wide_, 2);
    llvm::PHINode* digit = builder_.CreatePHI(wide_, 2);
    llvm::Value* one = llvm::ConstantInt::get(wide_, 1);
    rest->addIncoming(radicand, before);
    root->addIncoming(llvm::ConstantInt::get(wide_, 0), before);
    digit->addIncoming(builder_.CreateShl(one, 2 * (digits_ + 1)), before);
    llvm::Value* trial = builder_.CreateAdd(root, digit);
    llvm::Value* fits = builder_.CreateICmpUGE(rest, trial);
    llvm::Value* half = builder_.CreateLShr(root, 1);
    llvm::Value* next_rest = builder_.CreateSelect(fits, builder_.CreateSub(rest, trial), rest);
    llvm::Value* next_root = builder_.CreateSelect(fits, builder_.CreateAdd(half, digit), half);
    llvm::Value* next_digit = builder_.CreateLShr(digit, 2);
    rest->addIncoming(next_rest, loop);
    root->addIncoming(next_root, loop);
    digit->addIncoming(next_digit, loop);
    builder_.CreateCondBr(builder_.CreateIsNull(next_digit), done, loop);
    builder_.SetInsertPoint(done);
    return next_root;
  }

  llvm::BasicBlock* NewBlock(const char* name) {
    return llvm::BasicBlock::Create(builder_.getContext(), name, function_);
  }
  llvm::Value* Word(int64_t value) {
    return llvm::ConstantInt::get(word_, static_cast<uint64_t>(value), /*IsSigned=*/true);
  }

  llvm::Function* function_;
  llvm::IRBuilder<> builder_;
  const int digits_;
  const int bias_;
  llvm::Type* word_;
  llvm::Type* wide_;
};

}  // namespace

llvm::Function* SoftwareSqrt(ModuleContext& context, DType dtype) {
  const std::string name = absl::StrCat("kiln.sqrt.", dtype.ToString());
  if (llvm::Function* made = context.module.getFunction(name)) return made;
  llvm::Type* type = context.types.Value(loop::Type::Of(dtype));
  auto* function = llvm::Function::Create(llvm::FunctionType::get(type, {type}, false),
                                          llvm::GlobalValue::InternalLinkage, name, context.module);
  context.Decorate(function);
  SqrtEmitter(context, function, dtype.bits == 32).Emit();
  return function;
}

}  // namespace kiln::codegen
