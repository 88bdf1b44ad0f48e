// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/codegen/llvm/function_emitter.h"
#include "compiler/loop/mutate.h"
#include "llvm/IR/MDBuilder.h"

namespace kiln::codegen {
namespace {

constexpr int kTypeCodeTensor = 7;
constexpr int kTypeCodeNull = 4;

size_t NumArgs(const loop::Func& callee) {
  const bool workspace =
      callee.workspace != nullptr &&
      !(callee.convention == loop::Convention::kPacked && callee.allocate_workspace);
  return callee.params.size() + (workspace ? 1 : 0) + callee.scalars.size();
}

// True if the function always returns 0: neither it nor a callee may fail.
bool AlwaysSucceeds(const loop::Func& func, const ModuleContext& context) {
  if (func.kind != loop::Func::Kind::kOperator || !func.body) return false;
  bool succeeds = true;
  loop::VisitStmt(func.body, nullptr, [&](const loop::Stmt& s) {
    if (s.As<loop::Fail>() != nullptr || s.As<loop::Launch>() != nullptr) succeeds = false;
    const auto* call = s.As<loop::Call>();
    if (call == nullptr) return;
    const auto callee = context.funcs.find(call->function);
    succeeds = succeeds && callee != context.funcs.end() && callee->second.is_called_directly() &&
               AlwaysSucceeds(*callee->second.func, context);
  });
  return succeeds;
}

}  // namespace

void FunctionEmitter::ReturnIfNonZero(llvm::Value* status) {
  llvm::LLVMContext& llvm_context = context_.module.getContext();
  auto* failed = llvm::BasicBlock::Create(llvm_context, "failed", function_);
  auto* next = llvm::BasicBlock::Create(llvm_context, "next", function_);
  builder_.CreateCondBr(builder_.CreateIsNull(status), next, failed,
                        llvm::MDBuilder(llvm_context).createLikelyBranchWeights());
  builder_.SetInsertPoint(failed);
  builder_.CreateRet(status);
  builder_.SetInsertPoint(next);
}

void FunctionEmitter::ReturnIfSame(llvm::Value* a, llvm::Value* b) {
  llvm::LLVMContext& llvm_context = context_.module.getContext();
  auto* same = llvm::BasicBlock::Create(llvm_context, "same", function_);
  auto* apart = llvm::BasicBlock::Create(llvm_context, "apart", function_);
  builder_.CreateCondBr(builder_.CreateICmpEQ(a, b), same, apart);
  builder_.SetInsertPoint(same);
  builder_.CreateRet(builder_.getInt32(0));
  builder_.SetInsertPoint(apart);
}

llvm::Value* FunctionEmitter::ArgumentAddress(const loop::Argument& argument) {
  llvm::Value* base = BufferBase(argument.buffer);
  if (argument.offset.get() == nullptr) return base;
  int64_t offset = 0;
  if (loop::AsInt(argument.offset, &offset) && offset == 0) return base;
  return ElementPointer(argument.buffer, EmitExpr(argument.offset));
}

void FunctionEmitter::Emit(const loop::Call& node) {
  auto it = context_.funcs.find(node.function);
  if (it == context_.funcs.end()) {
    context_.Fail(absl::StrCat(func_.name, " calls ", node.function, ", which is not there"));
    return;
  }
  const FuncSymbols& callee = it->second;
  if (node.args.size() != NumArgs(*callee.func)) {
    context_.Fail(absl::StrCat(func_.name, " calls ", node.function, " with ", node.args.size(),
                               " arguments instead of ", NumArgs(*callee.func)));
    return;
  }
  for (const loop::Argument& argument : node.args) {
    if (argument.buffer == nullptr && callee.func->scalars.empty()) {
      context_.Fail(absl::StrCat(func_.name, " calls ", node.function, " with a number"));
      return;
    }
  }
  EmitProfileHook(node.profile_index, true);
  if (callee.func->convention == loop::Convention::kUnpacked || callee.is_called_directly()) {
    EmitUnpackedCall(callee, node);
  } else {
    EmitPackedCall(callee, node);
  }
  EmitProfileHook(node.profile_index, false);
}

void FunctionEmitter::EmitProfileHook(int32_t profile_index, bool begin) {
  if (profile_index < 0) return;
  llvm::LLVMContext& llvm_context = context_.module.getContext();
  llvm::GlobalVariable* variable = context_.module.getNamedGlobal(context_.program.profile_hook);
  llvm::Value* hook = builder_.CreateLoad(types_.pointer, variable);
  auto* call = llvm::BasicBlock::Create(llvm_context, "profile", function_);
  auto* next = llvm::BasicBlock::Create(llvm_context, "next", function_);
  builder_.CreateCondBr(builder_.CreateIsNull(hook), next, call,
                        llvm::MDBuilder(llvm_context).createLikelyBranchWeights());
  builder_.SetInsertPoint(call);
  auto* type = llvm::FunctionType::get(builder_.getVoidTy(), {types_.i32, types_.i32}, false);
  builder_.CreateCall(type, hook, {builder_.getInt32(profile_index), builder_.getInt32(begin)})
      ->setDoesNotThrow();
  builder_.CreateBr(next);
  builder_.SetInsertPoint(next);
}

void FunctionEmitter::EmitUnpackedCall(const FuncSymbols& callee, const loop::Call& node) {
  std::vector<llvm::Value*> args;
  if (TakesArray(*callee.func)) {
    args.push_back(PassesAllOn(node) ? function_->getArg(0) : ArgumentArray(node));
  } else {
    // Between calls the model's function keeps only the base address of its memory, not every
    // address in it that it passes again. Each of them would need a register, and be spilled.
    const bool keeps_few = func_.kind == loop::Func::Kind::kMain && machine_.target.short_of_memory;
    for (const loop::Buffer& param : func_.params) {
      const auto passes = [&](const loop::Argument& argument) {
        return argument.buffer == param && argument.offset && !loop::IsInt(argument.offset, 0);
      };
      const auto base = buffers_.find(param.get());
      if (keeps_few && base != buffers_.end() &&
          std::any_of(node.args.begin(), node.args.end(), passes)) {
        base->second = Hidden(base->second);
      }
    }
    for (const loop::Argument& argument : node.args) {
      args.push_back(argument.buffer == nullptr ? EmitExpr(argument.offset)
                                                : ArgumentAddress(argument));
    }
  }
  llvm::Function* function = callee.is_called_directly() ? callee.body : callee.entry;
  llvm::Value* status = builder_.CreateCall(function, args);
  // For small code, a status that is known to be 0 is not tested.
  const bool is_known = machine_.target.short_of_memory && callee.is_called_directly() &&
                        AlwaysSucceeds(*callee.func, context_);
  if (!is_known) ReturnIfNonZero(status);
}

bool FunctionEmitter::PassesAllOn(const loop::Call& node) const {
  if (!TakesArray(func_) || node.args.size() != NumPointers(func_)) return false;
  for (size_t i = 0; i < node.args.size(); ++i) {
    int64_t offset = 0;
    if (node.args[i].buffer != ParamOf(func_, i) || !loop::AsInt(node.args[i].offset, &offset) ||
        offset != 0) {
      return false;
    }
  }
  return true;
}

llvm::Value* FunctionEmitter::ArgumentArray(const loop::Call& node) {
  const uint64_t count = node.args.size();
  if (array_ == nullptr) array_ = EntryAlloca(types_.pointer, count, llvm::Align(8), "pointers");
  const auto* size = llvm::cast<llvm::ConstantInt>(array_->getArraySize());
  if (size->getZExtValue() < count) array_->setOperand(0, IndexConst(static_cast<int64_t>(count)));
  for (uint64_t i = 0; i < count; ++i) {
    builder_.CreateStore(ArgumentAddress(node.args[i]),
                         builder_.CreateConstInBoundsGEP1_64(types_.pointer, array_, i));
  }
  return array_;
}

loop::Buffer FunctionEmitter::ParamOf(const loop::Func& callee, size_t i) {
  return i < callee.params.size() ? callee.params[i] : callee.workspace;
}

void FunctionEmitter::StoreTensor(llvm::Value* tensor, const loop::Buffer& param,
                                  llvm::Value* data) {
  auto store = [&](IrTypes::DlTensorField field, llvm::Value* value) {
    builder_.CreateStore(value, builder_.CreateStructGEP(types_.dl_tensor, tensor, field));
  };
  llvm::Constant* null = llvm::ConstantPointerNull::get(types_.pointer);
  store(IrTypes::kData, data);
  // 32 bits, with the padding of short enums, for readers that load 32 bits everywhere.
  store(IrTypes::kDeviceType, builder_.getInt32(kDeviceCpu));
  store(IrTypes::kDeviceId, builder_.getInt32(0));
  store(IrTypes::kNdim, builder_.getInt32(param->shape.size()));
  store(IrTypes::kDtype, builder_.getInt32(context_.DlDataType(param->dtype)));
  store(IrTypes::kShape, param->shape.empty() ? null : context_.Int64Array(param->shape));
  store(IrTypes::kStrides, null);
  store(IrTypes::kByteOffset, builder_.getInt64(0));
}

void FunctionEmitter::EmitPackedCall(const FuncSymbols& callee, const loop::Call& node) {
  const uint64_t count = node.args.size();
  // A packed entry with pools may or may not take a constant pool, so it cannot be called.
  if (callee.func->kind == loop::Func::Kind::kMain) {
    context_.Fail(absl::StrCat(func_.name, " calls the packed entry ", node.function));
    return;
  }
  if (tensors_ == nullptr) {
    tensors_ = EntryAlloca(types_.dl_tensor, 2, llvm::Align(8), "tensors");
    values_ = EntryAlloca(types_.i64, 2, llvm::Align(8), "values");
    result_ = EntryAlloca(types_.i64, 2, llvm::Align(8), "result");
  }
  for (llvm::AllocaInst* memory : {tensors_, values_}) {
    const auto* size = llvm::cast<llvm::ConstantInt>(memory->getArraySize());
    if (size->getZExtValue() < count) memory->setOperand(0, IndexConst(count));
  }
  for (uint64_t i = 0; i < count; ++i) {
    llvm::Value* tensor = builder_.CreateConstInBoundsGEP1_64(types_.dl_tensor, tensors_, i);
    StoreTensor(tensor, ParamOf(*callee.func, i), ArgumentAddress(node.args[i]));
    builder_.CreateStore(tensor, builder_.CreateConstInBoundsGEP1_64(types_.i64, values_, i));
  }
  llvm::Value* codes =
      context_.Int32Array(std::vector<int32_t>(std::max<uint64_t>(1, count), kTypeCodeTensor));
  llvm::Value* result_code = builder_.CreateConstInBoundsGEP1_64(types_.i64, result_, 1);
  builder_.CreateStore(builder_.getInt32(kTypeCodeNull), result_code);
  llvm::Value* number = builder_.getInt32(count);
  if (callee.func->by_name) {
    ReturnIfNonZero(context_.CallRuntime(
        builder_, RuntimeFunction::kFuncCall,
        {LookUp(callee.func->name), values_, codes, number, result_, result_code}));
    return;
  }
  ReturnIfNonZero(
      builder_.CreateCall(callee.entry, {values_, codes, number, result_, result_code,
                                         llvm::ConstantPointerNull::get(types_.pointer)}));
}

llvm::Value* FunctionEmitter::LookUp(const std::string& function) {
  if (handle_ == nullptr) handle_ = EntryAlloca(types_.pointer, 1, llvm::Align(8), "handle");
  ReturnIfNonZero(
      context_.CallRuntime(builder_, RuntimeFunction::kGetFuncFromEnv,
                           {context_.ModuleHandle(builder_), context_.Text(function), handle_}));
  return builder_.CreateLoad(types_.pointer, handle_);
}

llvm::StructType* FunctionEmitter::ClosureType(const FuncSymbols& task) {
  const auto params = task.body->getFunctionType()->params().drop_front(2);
  return llvm::StructType::get(context_.module.getContext(), params);
}

llvm::Function* FunctionEmitter::TaskTrampoline(const FuncSymbols& task) {
  // Symbols of a program are C identifiers, so the dot makes this name unique.
  const std::string name = task.func->name + ".launched";
  if (llvm::Function* made = context_.module.getFunction(name)) return made;
  auto* type =
      llvm::FunctionType::get(types_.i32, {types_.i32, types_.pointer, types_.pointer}, false);
  auto* trampoline =
      llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, name, context_.module);
  context_.Decorate(trampoline, context_.MachineOf(*task.func));
  llvm::IRBuilder<> builder(
      llvm::BasicBlock::Create(context_.module.getContext(), "entry", trampoline));
  llvm::Value* num_tasks = builder.CreateLoad(
      types_.i32, builder.CreateStructGEP(types_.group_env, trampoline->getArg(1), 1));
  std::vector<llvm::Value*> args = {builder.CreateSExt(trampoline->getArg(0), types_.index),
                                    builder.CreateSExt(num_tasks, types_.index)};
  llvm::StructType* closure = ClosureType(task);
  for (unsigned i = 0; i < closure->getNumElements(); ++i) {
    args.push_back(builder.CreateLoad(closure->getElementType(i),
                                      builder.CreateStructGEP(closure, trampoline->getArg(2), i)));
  }
  builder.CreateRet(builder.CreateCall(task.body, args));
  return trampoline;
}

void FunctionEmitter::Emit(const loop::Launch& node) {
  auto it = context_.funcs.find(node.function);
  if (it == context_.funcs.end() || it->second.func->kind != loop::Func::Kind::kTask) {
    context_.Fail(absl::StrCat(func_.name, " launches ", node.function, ", which is no task"));
    return;
  }
  const FuncSymbols& task = it->second;
  // Pointers, then numbers: the order of the task's parameters.
  std::vector<llvm::Value*> captured;
  for (const loop::Argument& argument : node.args) {
    if (argument.buffer != nullptr) captured.push_back(ArgumentAddress(argument));
  }
  for (const loop::Argument& argument : node.args) {
    if (argument.buffer == nullptr) captured.push_back(EmitExpr(argument.offset));
  }
  llvm::StructType* type = ClosureType(task);
  if (captured.size() != type->getNumElements()) {
    context_.Fail(absl::StrCat(func_.name, " launches ", node.function, " with ", captured.size(),
                               " arguments instead of ", type->getNumElements()));
    return;
  }
  llvm::AllocaInst* closure = EntryAlloca(type, 1, llvm::Align(8), "closure");
  for (unsigned i = 0; i < captured.size(); ++i) {
    builder_.CreateStore(captured[i], builder_.CreateStructGEP(type, closure, i));
  }
  ReturnIfNonZero(context_.CallRuntime(builder_, RuntimeFunction::kParallelLaunch,
                                       {TaskTrampoline(task), closure, builder_.getInt32(0)}));
}

}  // namespace kiln::codegen
