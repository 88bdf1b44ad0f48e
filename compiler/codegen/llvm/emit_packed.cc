// SPDX-License-Identifier: Apache-2.0
// Packed functions: the code between a caller that passes tensors and a function body that takes
// pointers. It checks every argument, because the caller is unknown.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/codegen/llvm/emit_module.h"
#include "llvm/IR/MDBuilder.h"

namespace kiln::codegen {
namespace {

constexpr int kTypeCodeHandle = 3;
// Type codes of tensors: handle, null, tensor, array. Null pointers are rejected by their value.
constexpr uint32_t kTensorCodes = 1u << kTypeCodeHandle | 1u << 4 | 1u << 7 | 1u << 13;
constexpr uint32_t kMaxTensorCode = 13;
// Hints for TVMBackendAllocWorkspace: unsigned bytes.
constexpr int kHintCode = 1;
constexpr int kHintBits = 8;
constexpr size_t kMaxMessageBytes = 255;

// Arguments that one function unpacks if the body takes an array of pointers.
constexpr size_t kPieceArguments = 32;

class PackedEntryEmitter {
 public:
  // `function` receives the code: it is the entry of `symbols`, or a piece of it.
  PackedEntryEmitter(ModuleContext& context, const FuncSymbols& symbols, llvm::Function* function)
      : context_(context),
        types_(context.types),
        func_(*symbols.func),
        symbols_(symbols),
        num_arguments_(func_.params.size() + (TakesWorkspace() ? 1 : 0)),
        function_(function),
        builder_(NewBlock("entry")),
        failed_(NewBlock("failed")) {
    llvm::IRBuilder<> builder(failed_);
    message_ = builder.CreatePHI(types_.pointer, 4, "message");
    context_.CallRuntime(builder, RuntimeFunction::kSetLastError, {message_});
    builder.CreateRet(builder.getInt32(-1));
  }

  void Emit() {
    llvm::Value* num_args = function_->getArg(2);
    llvm::Value* count_fits =
        builder_.CreateICmpEQ(num_args, builder_.getInt32(static_cast<uint32_t>(num_arguments_)));
    // Some runtimes pass a tensor of constant pools before the pools of the main function, so pools
    // are counted from the end.
    if (func_.num_pools > 0) {
      count_fits = builder_.CreateOr(
          count_fits, builder_.CreateICmpEQ(
                          num_args, builder_.getInt32(static_cast<uint32_t>(num_arguments_ + 1))));
    }
    Check(count_fits, absl::StrCat(": wrong number of arguments; wanted: ", num_arguments_));
    std::vector<llvm::Value*> args;
    if (TakesArray(func_)) {
      args.push_back(UnpackIntoArray());
    } else {
      for (size_t i = 0; i < num_arguments_; ++i) args.push_back(UnpackArgument(i));
    }
    if (func_.workspace != nullptr && func_.allocate_workspace) {
      CallWithAllocation(args);
    } else {
      builder_.CreateRet(builder_.CreateCall(symbols_.body, args));
    }
    Finish();
  }

 private:
  bool TakesWorkspace() const { return func_.workspace != nullptr && !func_.allocate_workspace; }

  void Finish() {
    if (message_->getNumIncomingValues() == 0)
      failed_->eraseFromParent();
    else
      failed_->moveAfter(&function_->back());
  }

  // The address of the first element of argument `i`: an input or output, a pool or the workspace.
  llvm::Value* UnpackArgument(size_t i) {
    const size_t num_pools = static_cast<size_t>(func_.num_pools);
    const size_t params = func_.params.size() - num_pools;
    if (i < params) {
      const loop::BufferNode& buffer = *func_.params[i];
      return UnpackTensor(builder_.getInt64(i), buffer, /*at_least=*/false);
    }
    if (i == func_.params.size()) {
      return UnpackTensor(builder_.getInt64(params), *func_.workspace, /*at_least=*/true);
    }
    const size_t k = i - params;
    llvm::Value* from_end = builder_.getInt32(static_cast<uint32_t>(num_pools - k));
    llvm::Value* at = builder_.CreateZExt(builder_.CreateSub(function_->getArg(2), from_end),
                                          builder_.getInt64Ty());
    const loop::BufferNode& pool = *func_.params[i];
    return UnpackTensor(at, pool, /*at_least=*/true);
  }

  // Returns an array with the addresses of all arguments. Separate functions fill it, piece by
  // piece, because the checks are many blocks.
  llvm::Value* UnpackIntoArray() {
    llvm::LLVMContext& llvm_context = context_.module.getContext();
    llvm::AllocaInst* array =
        builder_.CreateAlloca(types_.pointer, builder_.getInt64(NumPointers(func_)), "pointers");
    auto* type = llvm::FunctionType::get(
        types_.i32, {types_.pointer, types_.pointer, types_.i32, types_.pointer}, false);
    for (size_t begin = 0; begin < num_arguments_; begin += kPieceArguments) {
      // Symbols of a program are C identifiers, so the dot makes this name unique.
      auto* piece =
          llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage,
                                 absl::StrCat(func_.name, ".arguments", begin), context_.module);
      context_.Decorate(piece, context_.MachineOf(func_));
      PackedEntryEmitter(context_, symbols_, piece)
          .EmitPiece(begin, std::min(num_arguments_, begin + kPieceArguments));
      llvm::Value* status = builder_.CreateCall(
          piece, {function_->getArg(0), function_->getArg(1), function_->getArg(2), array});
      llvm::BasicBlock* refused = NewBlock("refused");
      llvm::BasicBlock* next = NewBlock("unpacked");
      builder_.CreateCondBr(builder_.CreateIsNull(status), next, refused,
                            llvm::MDBuilder(llvm_context).createLikelyBranchWeights());
      builder_.SetInsertPoint(refused);
      builder_.CreateRet(status);
      builder_.SetInsertPoint(next);
    }
    return array;
  }

  // Stores the addresses of arguments [begin, end) in the array that the fourth parameter points
  // to.
  void EmitPiece(size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) StorePointer(function_->getArg(3), i, UnpackArgument(i));
    builder_.CreateRet(builder_.getInt32(0));
    Finish();
  }

  void StorePointer(llvm::Value* array, size_t i, llvm::Value* pointer) {
    builder_.CreateStore(pointer, builder_.CreateConstInBoundsGEP1_64(types_.pointer, array, i));
  }

  // The texts equal those of generated C, which has room for kMaxMessageBytes.
  void Check(llvm::Value* condition, const std::string& problem) {
    llvm::LLVMContext& llvm_context = context_.module.getContext();
    llvm::BasicBlock* next = NewBlock("checked");
    const std::string message = absl::StrCat(func_.name, problem).substr(0, kMaxMessageBytes);
    message_->addIncoming(context_.Text(message), builder_.GetInsertBlock());
    builder_.CreateCondBr(condition, next, failed_,
                          llvm::MDBuilder(llvm_context).createLikelyBranchWeights());
    builder_.SetInsertPoint(next);
  }

  llvm::Value* LoadField(llvm::Value* tensor, IrTypes::DlTensorField field) {
    return builder_.CreateLoad(types_.dl_tensor->getElementType(field),
                               builder_.CreateStructGEP(types_.dl_tensor, tensor, field));
  }

  void CheckArgument(llvm::Value* condition, const loop::BufferNode& buffer,
                     absl::string_view problem) {
    Check(condition, absl::StrCat(": argument '", buffer.name, "' ", problem));
  }

  static std::string Wanted(const loop::BufferNode& buffer, bool at_least) {
    if (at_least) return absl::StrCat("uint8, at least ", buffer.num_bytes(), " bytes");
    return absl::StrCat(buffer.dtype.ToString(), " ", ShapeToString(buffer.shape));
  }

  // Checks argument `i`, and returns the address of its first element. `at_least`: accepts a larger
  // one-dimensional tensor.
  llvm::Value* UnpackTensor(llvm::Value* i, const loop::BufferNode& buffer, bool at_least) {
    llvm::Value* code = builder_.CreateLoad(
        types_.i32, builder_.CreateInBoundsGEP(types_.i32, function_->getArg(1), i));
    llvm::Value* tensor = builder_.CreateLoad(
        types_.pointer, builder_.CreateInBoundsGEP(types_.i64, function_->getArg(0), i));
    llvm::Value* is_code = builder_.CreateICmpULE(code, builder_.getInt32(kMaxTensorCode));
    llvm::Value* is_tensor_code =
        builder_.CreateTrunc(builder_.CreateLShr(builder_.getInt32(kTensorCodes),
                                                 builder_.CreateAnd(code, builder_.getInt32(31))),
                             builder_.getInt1Ty());
    llvm::Value* ok = builder_.CreateAnd(builder_.CreateAnd(is_code, is_tensor_code),
                                         builder_.CreateIsNotNull(tensor));
    const std::string wanted = Wanted(buffer, at_least);
    CheckArgument(ok, buffer, absl::StrCat("is no tensor; wanted: ", wanted));
    CheckTensor(tensor, buffer, wanted, at_least);
    llvm::Value* offset =
        builder_.CreateIntCast(LoadField(tensor, IrTypes::kByteOffset), types_.index, false);
    return builder_.CreateGEP(types_.i8, LoadField(tensor, IrTypes::kData), offset);
  }

  void CheckTensor(llvm::Value* tensor, const loop::BufferNode& buffer, const std::string& wanted,
                   bool at_least) {
    auto check_equal = [&](IrTypes::DlTensorField field, uint32_t value,
                           const std::string& problem) {
      llvm::Value* found = LoadField(tensor, field);
      CheckArgument(builder_.CreateICmpEQ(found, llvm::ConstantInt::get(found->getType(), value)),
                    buffer, problem);
    };
    const size_t rank = buffer.shape.size();
    check_equal(IrTypes::kNdim, rank,
                absl::StrCat("has another number of dimensions; wanted: ", wanted));
    check_equal(IrTypes::kDtype, context_.DlDataType(buffer.dtype),
                absl::StrCat("has another data type; wanted: ", wanted));
    check_equal(IrTypes::kDeviceType, kDeviceCpu, "is not in memory of the CPU");
    if (rank == 0) return;
    // Calls within the module pass this very array.
    llvm::Value* shape = LoadField(tensor, IrTypes::kShape);
    llvm::BasicBlock* other = NewBlock("shape");
    llvm::BasicBlock* checked = NewBlock("shape_checked");
    builder_.CreateCondBr(builder_.CreateICmpEQ(shape, context_.Int64Array(buffer.shape)), checked,
                          other);
    builder_.SetInsertPoint(other);
    for (size_t axis = 0; axis < rank; ++axis) {
      llvm::Value* found = builder_.CreateLoad(
          types_.i64, builder_.CreateConstInBoundsGEP1_64(types_.i64, shape, axis));
      llvm::Value* extent = builder_.getInt64(buffer.shape[axis]);
      CheckArgument(
          at_least ? builder_.CreateICmpSGE(found, extent) : builder_.CreateICmpEQ(found, extent),
          buffer, absl::StrCat("has another shape; wanted: ", wanted));
    }
    builder_.CreateBr(checked);
    builder_.SetInsertPoint(checked);
    CheckCompact(tensor, buffer);
  }

  // Strides must be null or row-major. The stride of an axis with one element is ignored.
  void CheckCompact(llvm::Value* tensor, const loop::BufferNode& buffer) {
    if (buffer.num_elements() == 0) return;
    llvm::Value* strides = LoadField(tensor, IrTypes::kStrides);
    llvm::BasicBlock* given = NewBlock("strides");
    llvm::BasicBlock* compact = NewBlock("compact");
    builder_.CreateCondBr(builder_.CreateIsNull(strides), compact, given);
    builder_.SetInsertPoint(given);
    const Shape expected = RowMajorStrides(buffer.shape);
    llvm::Value* same = builder_.getTrue();
    for (size_t axis = 0; axis < expected.size(); ++axis) {
      if (buffer.shape[axis] == 1) continue;
      llvm::Value* stride = builder_.CreateLoad(
          types_.i64, builder_.CreateConstInBoundsGEP1_64(types_.i64, strides, axis));
      same = builder_.CreateAnd(same,
                                builder_.CreateICmpEQ(stride, builder_.getInt64(expected[axis])));
    }
    CheckArgument(same, buffer, "is not compact");
    builder_.CreateBr(compact);
    builder_.SetInsertPoint(compact);
  }

  void CallWithAllocation(std::vector<llvm::Value*> args) {
    llvm::Value* device = builder_.getInt32(kDeviceCpu);
    llvm::Value* zero = builder_.getInt32(0);
    const int64_t bytes = func_.workspace->num_bytes();
    llvm::Value* workspace =
        context_.CallRuntime(builder_, RuntimeFunction::kAllocWorkspace,
                             {device, zero, builder_.getInt64(std::max<int64_t>(1, bytes)),
                              builder_.getInt32(kHintCode), builder_.getInt32(kHintBits)});
    Check(builder_.CreateIsNotNull(workspace),
          absl::StrCat(": no memory for the workspace, bytes: ", bytes));
    if (TakesArray(func_)) {
      StorePointer(args[0], func_.params.size(), workspace);
    } else {
      args.push_back(workspace);
    }
    llvm::Value* status = builder_.CreateCall(symbols_.body, args);
    llvm::Value* freed =
        context_.CallRuntime(builder_, RuntimeFunction::kFreeWorkspace, {device, zero, workspace});
    builder_.CreateRet(builder_.CreateSelect(builder_.CreateIsNull(status), freed, status));
  }

  llvm::BasicBlock* NewBlock(const char* name) {
    return llvm::BasicBlock::Create(context_.module.getContext(), name, function_);
  }

  ModuleContext& context_;
  const IrTypes& types_;
  const loop::Func& func_;
  const FuncSymbols& symbols_;
  const size_t num_arguments_;  // including the workspace
  llvm::Function* function_;
  llvm::IRBuilder<> builder_;
  llvm::BasicBlock* failed_;
  llvm::PHINode* message_;
};

}  // namespace

void EmitPackedEntry(ModuleContext& context, const FuncSymbols& symbols) {
  PackedEntryEmitter(context, symbols, symbols.entry).Emit();
}

void DeclareGetters(ModuleContext& context) {
  for (const loop::HandleGetter& getter : context.program.getters) {
    if (context.module.getNamedValue(getter.name) != nullptr) {
      context.Fail(absl::StrCat("two symbols have the name ", getter.name));
      return;
    }
    auto* type = getter.packed ? context.types.PackedFunction()
                               : llvm::FunctionType::get(context.types.pointer, false);
    auto* function = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, getter.name,
                                            context.module);
    context.Decorate(function);
    if (getter.weak) function->setLinkage(llvm::GlobalValue::WeakAnyLinkage);
  }
}

void DefineGetters(ModuleContext& context) {
  for (const loop::HandleGetter& getter : context.program.getters) {
    llvm::GlobalVariable* data = context.module.getNamedGlobal(getter.data_symbol);
    if (data == nullptr) {
      context.Fail(
          absl::StrCat("getter ", getter.name, " of ", getter.data_symbol, ", which is not there"));
      return;
    }
    llvm::Function* function = context.module.getFunction(getter.name);
    llvm::IRBuilder<> builder(
        llvm::BasicBlock::Create(context.module.getContext(), "entry", function));
    if (!getter.packed) {
      builder.CreateRet(data);
      continue;
    }
    builder.CreateStore(data, function->getArg(3));
    builder.CreateStore(builder.getInt32(kTypeCodeHandle), function->getArg(4));
    builder.CreateRet(builder.getInt32(0));
  }
}

}  // namespace kiln::codegen
