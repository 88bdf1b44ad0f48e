// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/llvm/optimize.h"

#include <utility>

#include "compiler/codegen/llvm/near_offsets.h"
#include "compiler/codegen/llvm/pointer_induction.h"
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/ADCE.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/GVN.h"
#include "llvm/Transforms/Scalar/IndVarSimplify.h"
#include "llvm/Transforms/Scalar/InferAlignment.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/Reassociate.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Scalar/TailRecursionElimination.h"
#include "llvm/Transforms/Vectorize/LoadStoreVectorizer.h"

namespace kiln::codegen {
namespace {

llvm::FunctionPassManager FunctionPasses(const Target& target) {
  llvm::FunctionPassManager passes;
  // Register tiles are local arrays with constant indices. Here they become values.
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::ReassociatePass());
  llvm::LoopPassManager loops;
  loops.addPass(llvm::LICMPass(llvm::LICMOptions()));
  loops.addPass(llvm::IndVarSimplifyPass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(loops), /*UseMemorySSA=*/true));
  passes.addPass(llvm::GVNPass());
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::InferAlignmentPass());
  passes.addPass(llvm::ADCEPass());
  passes.addPass(llvm::SimplifyCFGPass());
  // A function that ends with a call becomes a branch, which needs no stack of its own.
  passes.addPass(llvm::TailCallElimPass());
  if (target.broadcasts_operands()) passes.addPass(PointerInductionPass());
  if (target.HasFeature("mve")) passes.addPass(NearOffsetsPass());
  if (target.broadcasts_lanes()) passes.addPass(llvm::LoadStoreVectorizerPass());
  return passes;
}

}  // namespace

void Optimize(llvm::Module& module, llvm::TargetMachine& machine, int opt_level,
              const Target& target) {
  if (opt_level <= 0) return;
  llvm::LoopAnalysisManager loop_analyses;
  llvm::FunctionAnalysisManager function_analyses;
  llvm::CGSCCAnalysisManager cgscc_analyses;
  llvm::ModuleAnalysisManager module_analyses;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(module_analyses);
  builder.registerCGSCCAnalyses(cgscc_analyses);
  builder.registerFunctionAnalyses(function_analyses);
  builder.registerLoopAnalyses(loop_analyses);
  builder.crossRegisterProxies(loop_analyses, function_analyses, cgscc_analyses, module_analyses);

  llvm::ModulePassManager passes;
  passes.addPass(llvm::AlwaysInlinerPass(/*InsertLifetime=*/false));
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(FunctionPasses(target)));
  passes.addPass(llvm::GlobalDCEPass());
  passes.run(module, module_analyses);
}

}  // namespace kiln::codegen
