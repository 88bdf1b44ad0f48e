// SPDX-License-Identifier: Apache-2.0
// EmitObject and related functions: module, optimization, machine code.
#include "compiler/codegen/llvm/emit.h"

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/codegen/llvm/codegen_llvm.h"
#include "compiler/codegen/llvm/emit_module.h"
#include "compiler/codegen/llvm/module_context.h"
#include "compiler/codegen/llvm/optimize.h"
#include "compiler/codegen/llvm/target_machine.h"
#include "kiln/library_notes.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

namespace kiln::codegen {
namespace {

// Writes to a string, so that an object of many megabytes is in memory only once.
class StringStream : public llvm::raw_pwrite_stream {
 public:
  explicit StringStream(std::string& out) : raw_pwrite_stream(/*Unbuffered=*/true), out_(out) {}

 private:
  void write_impl(const char* data, size_t size) override { out_.append(data, size); }
  void pwrite_impl(const char* data, size_t size, uint64_t offset) override {
    std::memcpy(out_.data() + offset, data, size);
  }
  uint64_t current_pos() const override { return out_.size(); }

  std::string& out_;
};

// Estimate for an object without its constants, larger than most.
constexpr uint64_t kCodeBytes = 1 << 20;

struct Compilation {
  std::unique_ptr<llvm::TargetMachine> machine;
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;  // destroyed before its context
};

absl::StatusOr<std::vector<Machine>> VariantMachines(const LlvmOptions& options) {
  std::vector<Machine> machines;
  for (const Target& variant : options.cpu_variants) {
    KILN_ASSIGN_OR_RETURN(const auto machine, MakeTargetMachine(variant, options));
    machines.push_back({variant, TraitsOf(*machine)});
  }
  return machines;
}

// Marks the notes as used, since nothing refers to them.
void AddNotes(const std::string& notes, llvm::Module& module) {
  if (notes.empty()) return;
  llvm::Type* const byte = llvm::Type::getInt8Ty(module.getContext());
  auto* const global = new llvm::GlobalVariable(
      module, llvm::ArrayType::get(byte, notes.size()), /*isConstant=*/true,
      llvm::GlobalValue::PrivateLinkage, llvm::ConstantDataArray::getRaw(notes, notes.size(), byte),
      "kiln.notes");
  global->setSection(KILN_NOTE_SECTION);
  global->setAlignment(llvm::Align(4));
  llvm::appendToCompilerUsed(module, {global});
}

size_t ConstantBytes(const llvm::Module& module) {
  uint64_t bytes = kCodeBytes;
  for (const llvm::GlobalVariable& data : module.globals()) {
    if (data.hasInitializer()) {
      bytes += module.getDataLayout().getTypeAllocSize(data.getValueType()).getFixedValue();
    }
  }
  return static_cast<size_t>(bytes);
}

// `traits` overrides the target's traits if it is not null.
absl::StatusOr<Compilation> Compile(const loop::LoopProgram& program, const Target& target,
                                    const LlvmOptions& options,
                                    const MachineTraits* traits = nullptr) {
  Compilation result;
  KILN_ASSIGN_OR_RETURN(result.machine, MakeTargetMachine(target, options));
  result.context = std::make_unique<llvm::LLVMContext>();
  result.module = std::make_unique<llvm::Module>(options.module_name, *result.context);
  llvm::Module& module = *result.module;
  module.setSourceFileName(options.module_name);
  module.setTargetTriple(result.machine->getTargetTriple().str());
  module.setDataLayout(result.machine->createDataLayout());
  if (module.getDataLayout().getPointerSizeInBits() != static_cast<unsigned>(target.pointer_bits)) {
    return absl::InvalidArgumentError(absl::StrCat("target '", target.name, "': pointers have ",
                                                   module.getDataLayout().getPointerSizeInBits(),
                                                   " bits, not ", target.pointer_bits));
  }
  if (options.position_independent) module.setPICLevel(llvm::PICLevel::BigPIC);
  KILN_ASSIGN_OR_RETURN(std::vector<Machine> machines, VariantMachines(options));
  machines.insert(machines.begin(),
                  {target, traits != nullptr ? *traits : TraitsOf(*result.machine)});
  ModuleContext context(module, program, std::move(machines), options);
  KILN_RETURN_IF_ERROR(EmitModule(context));
  AddNotes(options.notes, module);
  std::string problem;
  llvm::raw_string_ostream problem_stream(problem);
  if (llvm::verifyModule(module, &problem_stream)) {
    return absl::InternalError(absl::StrCat("LLVM's verifier: ", problem));
  }
  Optimize(module, *result.machine, options.opt_level, target);
  return result;
}

absl::StatusOr<std::string> Write(Compilation compilation, llvm::CodeGenFileType type) {
  std::string bytes;
  if (type == llvm::CodeGenFileType::ObjectFile) bytes.reserve(ConstantBytes(*compilation.module));
  StringStream stream(bytes);
  llvm::legacy::PassManager passes;
  if (compilation.machine->addPassesToEmitFile(passes, stream, nullptr, type,
                                               /*DisableVerify=*/true)) {
    return absl::UnimplementedError(absl::StrCat("target ", compilation.module->getTargetTriple(),
                                                 ": LLVM cannot write this kind of file for it"));
  }
  passes.run(*compilation.module);
  return bytes;
}

}  // namespace

absl::StatusOr<std::string> EmitObject(const loop::LoopProgram& program, const Target& target,
                                       const LlvmOptions& options) {
  KILN_ASSIGN_OR_RETURN(Compilation compilation, Compile(program, target, options));
  // `kiln inspect` adds up the stack sizes of firmware functions.
  compilation.machine->Options.EmitStackSizeSection = target.is_baremetal();
  return Write(std::move(compilation), llvm::CodeGenFileType::ObjectFile);
}

absl::StatusOr<std::string> EmitObjectWithTraits(const loop::LoopProgram& program,
                                                 const Target& target, const LlvmOptions& options,
                                                 const MachineTraits& traits) {
  KILN_ASSIGN_OR_RETURN(Compilation compilation, Compile(program, target, options, &traits));
  return Write(std::move(compilation), llvm::CodeGenFileType::ObjectFile);
}

absl::StatusOr<std::string> EmitAssembly(const loop::LoopProgram& program, const Target& target,
                                         const LlvmOptions& options) {
  KILN_ASSIGN_OR_RETURN(Compilation compilation, Compile(program, target, options));
  return Write(std::move(compilation), llvm::CodeGenFileType::AssemblyFile);
}

absl::StatusOr<std::string> EmitLlvmText(const loop::LoopProgram& program, const Target& target,
                                         const LlvmOptions& options) {
  KILN_ASSIGN_OR_RETURN(Compilation compilation, Compile(program, target, options));
  std::string text;
  llvm::raw_string_ostream stream(text);
  compilation.module->print(stream, nullptr);
  return text;
}

}  // namespace kiln::codegen
