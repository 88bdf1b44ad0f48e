// SPDX-License-Identifier: Apache-2.0
#include "compiler/backend/backend.h"

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/codegen/c/codegen_c.h"
#include "compiler/loop/pipeline.h"
#include "compiler/target/cpu_variants.h"
#ifdef KILN_WITH_LLVM
#include "compiler/codegen/llvm/codegen_llvm.h"
#endif

namespace kiln {
namespace {

// Thread count that code is prepared for if `threads` is 0 (as many as the runtime has): more than
// any machine.
constexpr int kAllThreads = 1024;

int Threads(const CompileOptions& options) {
  if (options.runtime == Runtime::kCrt) return 1;
  return options.threads == 0 ? kAllThreads : options.threads;
}

// The variable in which the C++ runtime stores the handle of the module. Empty for the C runtime.
std::string ModuleContextSymbol(const CompileOptions& options) {
  if (options.runtime == Runtime::kCrt) return "";
  return LoaderSymbol(options, "__tvm_module_ctx");
}

const Target& TargetOf(const loop::Func& func, const CompileOptions& options) {
  if (func.target == 0) return options.target;
  return options.cpu_variants[static_cast<size_t>(func.target) - 1];
}

codegen::CodegenCOptions COptions(const CompileOptions& options) {
  return {.module_name = options.module_name,
          .libm = options.runtime == Runtime::kCpp,
          .loader_pointers = options.runtime == Runtime::kCpp && !options.system_lib,
          .module_context = ModuleContextSymbol(options),
          .cpu_variants = options.cpu_variants,
          .packed_constants = options.c_constants == CConstants::kPacked,
          .small_code = CodeShapeOf(options.target, options.schedule.optimize).small};
}

// The operations that a code generator has a spelling for. Loop passes expand all others.
struct Spelling {
  bool (*keeps_dot)(const loop::Dot&);      // true for a dot of one sum to keep
  bool (*keeps_store)(const loop::Store&);  // true for a vector store to keep; null: all
};
absl::StatusOr<loop::LoopProgram> RunCodePasses(loop::LoopProgram program,
                                                const loop::LoopPassRun& run,
                                                const Spelling& spelling,
                                                const CompileOptions& options) {
  const loop::LoopPassContext context{
      .vector_bits = [&](const loop::Func& func) { return TargetOf(func, options).vector_bits; },
      .threads = Threads(options),
      .keeps_dot = spelling.keeps_dot,
      .keeps_store = spelling.keeps_store,
      .small_loops = CodeShapeOf(options.target, options.schedule.optimize).small_loops};
  KILN_RETURN_IF_ERROR(loop::RunLoopPasses(loop::LoopPhase::kCode, run, context, program));
  return program;
}

absl::StatusOr<std::string> EmitCText(const loop::LoopProgram& program,
                                      const CompileOptions& options) {
  KILN_ASSIGN_OR_RETURN(const loop::LoopProgram lowered, CProgram(program, options));
  return codegen::EmitC(lowered, CodeTarget(options), COptions(options));
}

#ifdef KILN_WITH_LLVM
codegen::LlvmOptions LlvmOptionsOf(const CompileOptions& options) {
  return {.module_name = options.module_name,
          .loader_pointers = options.runtime == Runtime::kCpp && !options.system_lib,
          .module_context = ModuleContextSymbol(options),
          .position_independent = !options.target.is_baremetal(),
          .cpu_variants = options.cpu_variants,
          .small_code = CodeShapeOf(options.target, options.schedule.optimize).small};
}
#else
absl::Status NoLlvm() {
  return absl::InvalidArgumentError(
      "--codegen llvm: this compiler is built without LLVM; use --codegen c");
}
#endif

}  // namespace

bool HasCodegen(Codegen codegen) {
#ifdef KILN_WITH_LLVM
  (void)codegen;
  return true;
#else
  return codegen != Codegen::kLlvm;
#endif
}

std::string ConstantsFileOf(const loop::LoopProgram& program, const CompileOptions& options) {
  if (options.codegen != Codegen::kC || options.c_constants != CConstants::kPacked) return "";
  return codegen::PackedConstants(program);
}

Target CodeTarget(const CompileOptions& options) {
  return options.cpu_variants.empty() ? options.target : PlainTarget(options.cpu_variants);
}

absl::StatusOr<loop::LoopProgram> CProgram(const loop::LoopProgram& program,
                                           const CompileOptions& options) {
  if (CodeTarget(options).HasFeature("mve")) {
    return RunCodePasses(program, options.schedule.passes,
                         {codegen::HasSpellingInC, codegen::HasSpellingInC}, options);
  }
  loop::LoopPassRun run = options.schedule.passes;
  run.disabled.insert(run.disabled.end(), {"vectorize-loops", "simplify-vectors"});
  const auto keeps_no_store = [](const loop::Store&) { return false; };
  return RunCodePasses(program, run, {codegen::HasSpellingInC, keeps_no_store}, options);
}

absl::StatusOr<loop::LoopProgram> VectorProgram(const loop::LoopProgram& program,
                                                const CompileOptions& options) {
  // A dot without an instruction becomes a sum of products, which is then vectorized.
  const auto keeps_dot = [](const loop::Dot& dot) { return !dot.kind.instruction.empty(); };
  return RunCodePasses(program, options.schedule.passes, {keeps_dot, /*keeps_store=*/nullptr},
                       options);
}

absl::StatusOr<loop::LoopProgram> CodeProgram(const loop::LoopProgram& program,
                                              const CompileOptions& options) {
  return options.codegen == Codegen::kC ? CProgram(program, options)
                                        : VectorProgram(program, options);
}

absl::StatusOr<Artifacts> EmitCode(const loop::LoopProgram& program, const CompileOptions& options,
                                   const LibraryParts& parts) {
  Artifacts artifacts;
  if (options.codegen == Codegen::kC) {
    KILN_ASSIGN_OR_RETURN(artifacts[options.module_name + ".c"], EmitCText(program, options));
    return artifacts;
  }
#ifdef KILN_WITH_LLVM
  KILN_ASSIGN_OR_RETURN(const loop::LoopProgram vectors, VectorProgram(program, options));
  const bool is_object = options.runtime == Runtime::kCrt || options.system_lib || parts.more_code;
  codegen::LlvmOptions llvm_options = LlvmOptionsOf(options);
  if (!is_object) llvm_options.notes = parts.notes;
  KILN_ASSIGN_OR_RETURN(std::string object,
                        codegen::EmitObject(vectors, CodeTarget(options), llvm_options));
  if (is_object) {
    artifacts[options.module_name + ".o"] = std::move(object);
    return artifacts;
  }
  const std::string name = options.module_name + ".so";
  KILN_ASSIGN_OR_RETURN(artifacts[name], codegen::LinkSharedObject(std::move(object), name));
  return artifacts;
#else
  (void)parts;
  return NoLlvm();
#endif
}

absl::StatusOr<std::string> EmitCodeText(const loop::LoopProgram& program,
                                         const CompileOptions& options, absl::string_view form) {
  if (form == "c") return EmitCText(program, options);
#ifdef KILN_WITH_LLVM
  KILN_ASSIGN_OR_RETURN(const loop::LoopProgram vectors, VectorProgram(program, options));
  return form == "asm"
             ? codegen::EmitAssembly(vectors, CodeTarget(options), LlvmOptionsOf(options))
             : codegen::EmitLlvmText(vectors, CodeTarget(options), LlvmOptionsOf(options));
#else
  return NoLlvm();
#endif
}

}  // namespace kiln
