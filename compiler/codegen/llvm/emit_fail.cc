// SPDX-License-Identifier: Apache-2.0
// `fail` statements, and the function that they call. It assembles the text and records it as the
// last error.
#include <algorithm>
#include <cstdint>

#include "compiler/codegen/llvm/function_emitter.h"

namespace kiln::codegen {
namespace {

constexpr char kFailNumber[] = "kiln.fail_number";
// A sign, 20 digits and the NUL.
constexpr uint64_t kNumberBytes = 22;
// Place value of the first of 20 decimal digits.
constexpr uint64_t kLargestPower = 10'000'000'000'000'000'000u;

// True if a runtime of this ABI runs the program. Other programs only record the text if they are
// linked with a runtime.
bool HasRuntime(const ModuleContext& context) {
  const auto& funcs = context.program.funcs;
  return context.options.loader_pointers ||
         std::any_of(funcs.begin(), funcs.end(), [](const loop::Func& func) {
           return func.kind != loop::Func::Kind::kExternal &&
                  func.convention == loop::Convention::kPacked;
         });
}

class FailEmitter {
 public:
  explicit FailEmitter(ModuleContext& context)
      : context_(context), types_(context.types), builder_(context.module.getContext()) {}

  // i32 fail_number(ptr before, i64 number, i1 negative, ptr after).
  llvm::Function* Define() {
    append_ = DefineAppend();
    llvm::Function* fail =
        Begin(kFailNumber, types_.i32,
              {types_.pointer, types_.i64, builder_.getInt1Ty(), types_.pointer});
    fail->addFnAttr(llvm::Attribute::NoInline);
    fail->addFnAttr(llvm::Attribute::Cold);
    llvm::Value* text = builder_.CreateAlloca(
        llvm::ArrayType::get(types_.i8, loop::kMaxFailText + kNumberBytes), nullptr, "text");
    llvm::Value* end = builder_.CreateCall(append_, {text, fail->getArg(0)});
    llvm::Value* negative = fail->getArg(2);
    builder_.CreateStore(builder_.getInt8('-'), end);
    end = Advance(end, negative);
    llvm::Value* number = fail->getArg(1);
    end = AppendDigits(end, builder_.CreateSelect(negative, builder_.CreateNeg(number), number));
    end = builder_.CreateCall(append_, {end, fail->getArg(3)});
    builder_.CreateStore(builder_.getInt8(0), end);
    SetLastError(text);
    builder_.CreateRet(builder_.getInt32(static_cast<uint32_t>(loop::kFailStatus)));
    return fail;
  }

 private:
  // Creates an internal function, and moves the builder to its first block.
  llvm::Function* Begin(const char* name, llvm::Type* result, llvm::ArrayRef<llvm::Type*> params) {
    function_ = llvm::Function::Create(llvm::FunctionType::get(result, params, false),
                                       llvm::GlobalValue::InternalLinkage, name, context_.module);
    context_.Decorate(function_);
    builder_.SetInsertPoint(Block("entry"));
    return function_;
  }

  llvm::BasicBlock* Block(const char* name) {
    return llvm::BasicBlock::Create(context_.module.getContext(), name, function_);
  }

  // Returns the address, plus one byte if `condition` is true.
  llvm::Value* Advance(llvm::Value* address, llvm::Value* condition) {
    return builder_.CreateGEP(types_.i8, address, builder_.CreateZExt(condition, types_.index));
  }

  // ptr append(ptr to, ptr from): copies a string without its NUL, and returns the end of the copy.
  llvm::Function* DefineAppend() {
    llvm::Function* append = Begin("kiln.append", types_.pointer, {types_.pointer, types_.pointer});
    llvm::BasicBlock *entry = builder_.GetInsertBlock(), *loop = Block("loop"),
                     *next = Block("next"), *done = Block("done");
    builder_.CreateBr(loop);
    builder_.SetInsertPoint(loop);
    llvm::PHINode *to = builder_.CreatePHI(types_.pointer, 2),
                  *from = builder_.CreatePHI(types_.pointer, 2);
    to->addIncoming(append->getArg(0), entry);
    from->addIncoming(append->getArg(1), entry);
    llvm::Value* byte = builder_.CreateLoad(types_.i8, from);
    builder_.CreateCondBr(builder_.CreateIsNull(byte), done, next);
    builder_.SetInsertPoint(next);
    builder_.CreateStore(byte, to);
    to->addIncoming(Advance(to, builder_.getTrue()), next);
    from->addIncoming(Advance(from, builder_.getTrue()), next);
    builder_.CreateBr(loop);
    builder_.SetInsertPoint(done);
    builder_.CreateRet(to);
    return append;
  }

  // Writes the number in decimal, and returns its end. Every digit is written, but leading zeros
  // are overwritten.
  llvm::Value* AppendDigits(llvm::Value* begin, llvm::Value* number) {
    llvm::BasicBlock *entry = builder_.GetInsertBlock(), *loop = Block("digit"),
                     *done = Block("digits");
    builder_.CreateBr(loop);
    builder_.SetInsertPoint(loop);
    llvm::PHINode *end = builder_.CreatePHI(types_.pointer, 2),
                  *power = builder_.CreatePHI(types_.i64, 2);
    end->addIncoming(begin, entry);
    power->addIncoming(builder_.getInt64(kLargestPower), entry);
    llvm::Value *ten = builder_.getInt64(10), *one = builder_.getInt64(1);
    llvm::Value* quotient = builder_.CreateUDiv(number, power);
    llvm::Value* digit = builder_.CreateTrunc(builder_.CreateURem(quotient, ten), types_.i8);
    builder_.CreateStore(builder_.CreateAdd(digit, builder_.getInt8('0')), end);
    llvm::Value* is_last = builder_.CreateICmpEQ(power, one);
    llvm::Value* keep = builder_.CreateOr(builder_.CreateIsNotNull(quotient), is_last);
    llvm::Value* next = Advance(end, keep);
    end->addIncoming(next, loop);
    power->addIncoming(builder_.CreateUDiv(power, ten), loop);
    builder_.CreateCondBr(is_last, done, loop);
    builder_.SetInsertPoint(done);
    return next;
  }

  void SetLastError(llvm::Value* text) {
    if (HasRuntime(context_)) {
      context_.CallRuntime(builder_, RuntimeFunction::kSetLastError, {text});
    } else {
      context_.CallLinkedSetLastError(builder_, text);
    }
  }

  ModuleContext& context_;
  const IrTypes& types_;
  llvm::IRBuilder<> builder_;
  llvm::Function* function_ = nullptr;  // the function under construction
  llvm::Function* append_ = nullptr;
};

}  // namespace

void FunctionEmitter::EmitFail(absl::string_view before, llvm::Value* number, bool is_signed,
                               absl::string_view after) {
  llvm::Function* fail = context_.module.getFunction(kFailNumber);
  if (fail == nullptr) fail = FailEmitter(context_).Define();
  llvm::Value* negative =
      is_signed ? builder_.CreateICmpSLT(number, llvm::ConstantInt::get(number->getType(), 0))
                : builder_.getFalse();
  llvm::Value* wide = builder_.CreateIntCast(number, types_.i64, is_signed);
  builder_.CreateRet(
      builder_.CreateCall(fail, {context_.Text(before), wide, negative, context_.Text(after)}));
}

void FunctionEmitter::Emit(const loop::Fail& node) {
  EmitFail(node.before, EmitExpr(node.number), !node.number.type().dtype.is_uint(), node.after);
  // Code after the statement is unreachable.
  builder_.SetInsertPoint(
      llvm::BasicBlock::Create(context_.module.getContext(), "unreached", function_));
}

}  // namespace kiln::codegen
