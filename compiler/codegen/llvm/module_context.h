// SPDX-License-Identifier: Apache-2.0
// State that the emitters of one module share: the module under construction, its symbols, the
// runtime's functions, and the first error.
#ifndef KILN_COMPILER_CODEGEN_LLVM_MODULE_CONTEXT_H_
#define KILN_COMPILER_CODEGEN_LLVM_MODULE_CONTEXT_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compiler/codegen/llvm/codegen_llvm.h"
#include "compiler/codegen/llvm/ir_types.h"
#include "compiler/codegen/llvm/target_machine.h"
#include "compiler/loop/loop.h"
#include "compiler/target/target.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

namespace kiln::codegen {

// The functions of c_backend_api.h and c_runtime_api.h that generated code calls.
enum class RuntimeFunction {
  kParallelLaunch,
  kAllocWorkspace,
  kFreeWorkspace,
  kGetFuncFromEnv,
  kFuncCall,
  kSetLastError,
};

struct FuncSymbols {
  const loop::Func* func;
  // i32(ptr param…, ptr workspace if any), or i32(ptr to an array of these). For a kTask: i32(index
  // task, index num_tasks, ptr param…, scalar…).
  llvm::Function* body;
  // The function for external callers: the packed function around `body`, or `body` itself.
  llvm::Function* entry;

  // True if functions of the module call `body`, without the checks and the allocation of `entry`.
  bool is_called_directly() const { return body != nullptr && !func->allocate_workspace; }
};

// True if the body of the function takes its parameters and workspace as one array of pointers.
// This is for many pointers, because LLVM's time grows faster than the number of live values.
bool TakesArray(const loop::Func& func);
// Number of the function's parameters, plus one for a workspace.
size_t NumPointers(const loop::Func& func);

// The machine that a function is for.
struct Machine {
  Target target;
  MachineTraits traits;
};

class ModuleContext {
 public:
  // `machines` has that of the target, followed by those of LlvmOptions::cpu_variants.
  ModuleContext(llvm::Module& module, const loop::LoopProgram& program,
                std::vector<Machine> machines, const LlvmOptions& options);

  llvm::Module& module;
  const loop::LoopProgram& program;
  const std::vector<Machine> machines;
  const LlvmOptions& options;
  const IrTypes types;

  std::map<std::string, FuncSymbols> funcs;                                      // by name
  std::unordered_map<const loop::BufferNode*, llvm::GlobalVariable*> constants;  // by buffer

  // Records the first error. Emitters continue with poison values, and the module is discarded.
  void Fail(absl::string_view message);
  void FailUnimplemented(absl::string_view message);
  const absl::Status& status() const { return status_; }

  llvm::CallInst* CallRuntime(llvm::IRBuilderBase& builder, RuntimeFunction function,
                              llvm::ArrayRef<llvm::Value*> args);

  // Records `text` as the last error if the program is linked with a runtime.
  void CallLinkedSetLastError(llvm::IRBuilderBase& builder, llvm::Value* text);

  // The module's handle for calls by name: the value of the module's variable, or null.
  llvm::Value* ModuleHandle(llvm::IRBuilderBase& builder);
  void DefineModuleVariable();

  // Private constants. Equal ones are one object.
  llvm::Constant* Text(absl::string_view text);
  llvm::Constant* Int64Array(absl::Span<const int64_t> values);
  llvm::Constant* Int32Array(absl::Span<const int32_t> values);

  // A DLDataType as the 32-bit word in memory.
  uint32_t DlDataType(DType dtype) const;

  const Machine& MachineOf(const loop::Func& func) const {
    return machines[static_cast<size_t>(func.target)];
  }

  // Adds the attributes that every function for the machine has.
  void Decorate(llvm::Function* function, const Machine& machine) const;
  void Decorate(llvm::Function* function) const { Decorate(function, machines[0]); }

 private:
  llvm::Constant* Private(const std::string& key, llvm::Constant* value, int alignment);

  absl::Status status_;
  std::map<std::string, llvm::Constant*> private_constants_;
};

}  // namespace kiln::codegen

#endif  // KILN_COMPILER_CODEGEN_LLVM_MODULE_CONTEXT_H_
