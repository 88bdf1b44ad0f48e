// SPDX-License-Identifier: Apache-2.0
// What the emitters of one module share: the module being made, its symbols, the runtime's
// functions, and the first error.
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
  // i32(ptr param…, ptr workspace if any), or i32(ptr to an array of them); for a kTask i32(index
  // task, index num_tasks, ptr param…, scalar…).
  llvm::Function* body;
  // What others call: the packed function around `body`, or `body` itself if there is none.
  llvm::Function* entry;

  // Whether the module's own functions call `body`, past the checks and the memory of `entry`.
  bool is_called_directly() const { return body != nullptr && !func->allocate_workspace; }
};

// Whether the body of the function takes its parameters and workspace as one array of pointers:
// LLVM's time grows faster than the number of values that are alive at once.
bool TakesArray(const loop::Func& func);
// The parameters of the function and its workspace, if it has one.
size_t NumPointers(const loop::Func& func);

// What a function is for.
struct Machine {
  Target target;
  MachineTraits traits;
};

class ModuleContext {
 public:
  // `machines`: that of the target, then those of LlvmOptions::cpu_variants.
  ModuleContext(llvm::Module& module, const loop::LoopProgram& program,
                std::vector<Machine> machines, const LlvmOptions& options);

  llvm::Module& module;
  const loop::LoopProgram& program;
  const std::vector<Machine> machines;
  const LlvmOptions& options;
  const IrTypes types;

  std::map<std::string, FuncSymbols> funcs;                                      // by name
  std::unordered_map<const loop::BufferNode*, llvm::GlobalVariable*> constants;  // by buffer

  // Remembers the first error; emitters carry on with poison and the module is thrown away.
  void Fail(absl::string_view message);
  void FailUnimplemented(absl::string_view message);
  const absl::Status& status() const { return status_; }

  llvm::CallInst* CallRuntime(llvm::IRBuilderBase& builder, RuntimeFunction function,
                              llvm::ArrayRef<llvm::Value*> args);

  // Leaves `text` as the last error where the program is linked with a runtime that keeps it.
  void CallLinkedSetLastError(llvm::IRBuilderBase& builder, llvm::Value* text);

  // What calls by name hand on: the variable that says which module this is, or null.
  llvm::Value* ModuleHandle(llvm::IRBuilderBase& builder);
  void DefineModuleVariable();

  // Private constants; equal ones are one object.
  llvm::Constant* Text(absl::string_view text);
  llvm::Constant* Int64Array(absl::Span<const int64_t> values);
  llvm::Constant* Int32Array(absl::Span<const int32_t> values);

  // A DLDataType as the 32-bit word that it is in memory.
  uint32_t DlDataType(DType dtype) const;

  const Machine& MachineOf(const loop::Func& func) const {
    const int machine = func.cpu_variant + 1;
    return machines[static_cast<size_t>(machine)];
  }

  // Attributes that every function of the module for that machine has.
  void Decorate(llvm::Function* function, const Machine& machine) const;
  void Decorate(llvm::Function* function) const { Decorate(function, machines[0]); }

 private:
  llvm::Constant* Private(const std::string& key, llvm::Constant* value, int alignment);

  absl::Status status_;
  std::map<std::string, llvm::Constant*> private_constants_;
};

}  // namespace kiln::codegen

#endif  // KILN_COMPILER_CODEGEN_LLVM_MODULE_CONTEXT_H_
