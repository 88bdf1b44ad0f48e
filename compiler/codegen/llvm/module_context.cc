// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/llvm/module_context.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace kiln::codegen {
namespace {

// Stack alignment of the calling conventions.
constexpr unsigned kStackBytes = 16;
// Maximum number of pointers that are separate parameters.
constexpr size_t kMaxPointers = 128;

llvm::StringRef RuntimeName(RuntimeFunction function) {
  switch (function) {
    case RuntimeFunction::kParallelLaunch:
      return "TVMBackendParallelLaunch";
    case RuntimeFunction::kAllocWorkspace:
      return "TVMBackendAllocWorkspace";
    case RuntimeFunction::kFreeWorkspace:
      return "TVMBackendFreeWorkspace";
    case RuntimeFunction::kGetFuncFromEnv:
      return "TVMBackendGetFuncFromEnv";
    case RuntimeFunction::kFuncCall:
      return "TVMFuncCall";
    case RuntimeFunction::kSetLastError:
      break;
  }
  return "TVMAPISetLastError";
}

llvm::FunctionType* RuntimeType(RuntimeFunction function, const IrTypes& types) {
  switch (function) {
    case RuntimeFunction::kParallelLaunch:
      return llvm::FunctionType::get(types.i32, {types.pointer, types.pointer, types.i32}, false);
    case RuntimeFunction::kAllocWorkspace:
      return llvm::FunctionType::get(
          types.pointer, {types.i32, types.i32, types.i64, types.i32, types.i32}, false);
    case RuntimeFunction::kFreeWorkspace:
      return llvm::FunctionType::get(types.i32, {types.i32, types.i32, types.pointer}, false);
    case RuntimeFunction::kGetFuncFromEnv:
      return llvm::FunctionType::get(types.i32, {types.pointer, types.pointer, types.pointer},
                                     false);
    case RuntimeFunction::kFuncCall:
      return llvm::FunctionType::get(
          types.i32,
          {types.pointer, types.pointer, types.pointer, types.i32, types.pointer, types.pointer},
          false);
    case RuntimeFunction::kSetLastError:
      break;
  }
  return llvm::FunctionType::get(llvm::Type::getVoidTy(types.i32->getContext()), {types.pointer},
                                 false);
}

// True if C's enums are as short as their values allow. Arm's procedure call standard requires it
// for machines without an operating system.
bool HasShortEnums(const Target& target) {
  const llvm::Triple triple = TripleOf(target);
  return (triple.isARM() || triple.isThumb()) && triple.isOSUnknown();
}

}  // namespace

size_t NumPointers(const loop::Func& func) {
  return func.params.size() + (func.workspace != nullptr ? 1 : 0);
}

bool TakesArray(const loop::Func& func) {
  const bool is_called_by_others = func.exported && func.convention == loop::Convention::kUnpacked;
  return NumPointers(func) > kMaxPointers && !is_called_by_others && func.scalars.empty() &&
         func.kind != loop::Func::Kind::kTask && func.kind != loop::Func::Kind::kExternal;
}

ModuleContext::ModuleContext(llvm::Module& module, const loop::LoopProgram& program,
                             std::vector<Machine> machines_in, const LlvmOptions& options)
    : module(module),
      program(program),
      machines(std::move(machines_in)),
      options(options),
      types(module.getContext(), machines[0].target.pointer_bits,
            HasShortEnums(machines[0].target)) {}

void ModuleContext::Fail(absl::string_view message) {
  if (status_.ok()) status_ = absl::InternalError(absl::StrCat("LLVM code generator: ", message));
}

void ModuleContext::FailUnimplemented(absl::string_view message) {
  if (status_.ok()) {
    status_ =
        absl::UnimplementedError(absl::StrCat("target '", machines[0].target.name, "': ", message));
  }
}

llvm::CallInst* ModuleContext::CallRuntime(llvm::IRBuilderBase& builder, RuntimeFunction function,
                                           llvm::ArrayRef<llvm::Value*> args) {
  llvm::FunctionType* type = RuntimeType(function, types);
  const llvm::StringRef name = RuntimeName(function);
  if (!options.loader_pointers) {
    llvm::FunctionCallee callee = module.getOrInsertFunction(name, type);
    llvm::cast<llvm::Function>(callee.getCallee())->setDoesNotThrow();
    return builder.CreateCall(callee, args);
  }
  // Weak, because several objects of one library share the variable.
  const std::string variable_name = "__" + name.str();
  llvm::GlobalVariable* variable = module.getNamedGlobal(variable_name);
  if (variable == nullptr) {
    variable = new llvm::GlobalVariable(
        module, types.pointer, /*isConstant=*/false, llvm::GlobalValue::WeakAnyLinkage,
        llvm::ConstantPointerNull::get(types.pointer), variable_name);
  }
  llvm::CallInst* call =
      builder.CreateCall(type, builder.CreateLoad(types.pointer, variable), args);
  call->setDoesNotThrow();
  return call;
}

void ModuleContext::CallLinkedSetLastError(llvm::IRBuilderBase& builder, llvm::Value* text) {
  llvm::FunctionCallee set_error =
      module.getOrInsertFunction(RuntimeName(RuntimeFunction::kSetLastError),
                                 RuntimeType(RuntimeFunction::kSetLastError, types));
  llvm::cast<llvm::Function>(set_error.getCallee())
      ->setLinkage(llvm::GlobalValue::ExternalWeakLinkage);
  llvm::Function* function = builder.GetInsertBlock()->getParent();
  auto* linked = llvm::BasicBlock::Create(module.getContext(), "linked", function);
  auto* done = llvm::BasicBlock::Create(module.getContext(), "done", function);
  builder.CreateCondBr(builder.CreateIsNotNull(set_error.getCallee()), linked, done);
  builder.SetInsertPoint(linked);
  builder.CreateCall(set_error, {text});
  builder.CreateBr(done);
  builder.SetInsertPoint(done);
}

void ModuleContext::DefineModuleVariable() {
  const std::string& name = options.module_context;
  if (name.empty() || module.getNamedValue(name) != nullptr) return;
  new llvm::GlobalVariable(module, types.pointer, /*isConstant=*/false,
                           llvm::GlobalValue::WeakAnyLinkage,
                           llvm::ConstantPointerNull::get(types.pointer), name);
}

llvm::Value* ModuleContext::ModuleHandle(llvm::IRBuilderBase& builder) {
  if (options.module_context.empty()) return llvm::ConstantPointerNull::get(types.pointer);
  DefineModuleVariable();
  return builder.CreateLoad(types.pointer, module.getNamedGlobal(options.module_context));
}

llvm::Constant* ModuleContext::Private(const std::string& key, llvm::Constant* value,
                                       int alignment) {
  llvm::Constant*& slot = private_constants_[key];
  if (slot == nullptr) {
    auto* global = new llvm::GlobalVariable(module, value->getType(), /*isConstant=*/true,
                                            llvm::GlobalValue::PrivateLinkage, value);
    // The address is significant. Mergeable constants would share one section with all others of
    // their kind, which stays in an image as long as anything refers to one of them.
    global->setAlignment(llvm::Align(alignment));
    slot = global;
  }
  return slot;
}

llvm::Constant* ModuleContext::Text(absl::string_view text) {
  return Private(absl::StrCat("text:", text),
                 llvm::ConstantDataArray::getString(module.getContext(),
                                                    llvm::StringRef(text.data(), text.size())),
                 1);
}

llvm::Constant* ModuleContext::Int64Array(absl::Span<const int64_t> values) {
  const std::vector<uint64_t> words(values.begin(), values.end());
  return Private(absl::StrCat("int64:", absl::StrJoin(values, ",")),
                 llvm::ConstantDataArray::get(module.getContext(), words), 8);
}

llvm::Constant* ModuleContext::Int32Array(absl::Span<const int32_t> values) {
  const std::vector<uint32_t> words(values.begin(), values.end());
  return Private(absl::StrCat("int32:", absl::StrJoin(values, ",")),
                 llvm::ConstantDataArray::get(module.getContext(), words), 4);
}

uint32_t ModuleContext::DlDataType(DType dtype) const {
  const uint32_t code = dtype.is_int() ? 0 : dtype.is_float() ? 2 : 1;
  const uint32_t bits = dtype.bits;
  const uint32_t lanes = 1;
  if (module.getDataLayout().isLittleEndian()) return code | bits << 8 | lanes << 16;
  return code << 24 | bits << 16 | lanes;
}

void ModuleContext::Decorate(llvm::Function* function, const Machine& machine) const {
  const Target& target = machine.target;
  function->setDoesNotThrow();
  if (!target.cpu.empty()) function->addFnAttr("target-cpu", target.cpu);
  if (!target.features.empty()) function->addFnAttr("target-features", target.features);
  if (!function->hasLocalLinkage()) function->setDSOLocal(true);
  // Each spilled vector should lie in one cache line; otherwise the start of a thread's stack
  // decides if it straddles two. All functions get the attribute, because they are inlined.
  const unsigned vector_bytes = std::min<unsigned>(
      std::bit_floor(static_cast<unsigned>(target.vector_bits) / 8), kCacheLineBytes);
  if (vector_bytes > kStackBytes) {
    function->addFnAttr(
        llvm::Attribute::getWithStackAlignment(function->getContext(), llvm::Align(vector_bytes)));
  }
}

}  // namespace kiln::codegen
