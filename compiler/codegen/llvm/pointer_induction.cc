// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/llvm/pointer_induction.h"

#include <vector>

#include "compiler/codegen/llvm/opaque_pointer.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

namespace kiln::codegen {
namespace {

// Fewer loads do not justify a register.
constexpr size_t kMinLoads = 8;

// Loads whose addresses differ by constants in every iteration.
struct PointerGroup {
  const llvm::SCEVAddRecExpr* first;
  std::vector<std::pair<llvm::LoadInst*, int64_t>> loads;  // and their bytes from `first`
};

// True if the loaded value is broadcast for one operand of one multiply-add.
bool IsBroadcastOnce(const llvm::LoadInst& load) {
  return load.hasOneUse() && !load.getType()->isVectorTy() &&
         llvm::isa<llvm::InsertElementInst>(*load.user_begin());
}

std::vector<PointerGroup> GroupLoads(const llvm::Loop& loop, llvm::ScalarEvolution& evolution) {
  std::vector<PointerGroup> groups;
  for (llvm::BasicBlock* block : loop.blocks()) {
    for (llvm::Instruction& instruction : *block) {
      auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
      if (load == nullptr || !IsBroadcastOnce(*load)) continue;
      const auto* address =
          llvm::dyn_cast<llvm::SCEVAddRecExpr>(evolution.getSCEV(load->getPointerOperand()));
      if (address == nullptr || address->getLoop() != &loop || !address->isAffine() ||
          !llvm::isa<llvm::SCEVConstant>(address->getStepRecurrence(evolution))) {
        continue;
      }
      bool found = false;
      for (PointerGroup& group : groups) {
        const auto* distance =
            llvm::dyn_cast<llvm::SCEVConstant>(evolution.getMinusSCEV(address, group.first));
        if (distance == nullptr) continue;
        group.loads.emplace_back(load, distance->getAPInt().getSExtValue());
        found = true;
        break;
      }
      if (!found) groups.push_back({address, {{load, 0}}});
    }
  }
  return groups;
}

void RewritePointers(const PointerGroup& group, const llvm::Loop& loop,
                     llvm::ScalarEvolution& evolution) {
  llvm::BasicBlock* header = loop.getHeader();
  llvm::Instruction* entry = loop.getLoopPreheader()->getTerminator();
  llvm::SCEVExpander expander(evolution, header->getDataLayout(), "row");
  llvm::Type* pointer_type = group.loads.front().first->getPointerOperandType();
  llvm::Value* start = expander.expandCodeFor(group.first->getStart(), pointer_type, entry);
  llvm::IRBuilder<> builder(&header->front());
  llvm::PHINode* pointer = builder.CreatePHI(pointer_type, 2, "row");
  for (const auto& [load, distance] : group.loads) {
    builder.SetInsertPoint(load);
    load->setOperand(0, builder.CreateConstGEP1_64(builder.getInt8Ty(), pointer,
                                                   static_cast<uint64_t>(distance)));
  }
  builder.SetInsertPoint(loop.getLoopLatch()->getTerminator());
  const auto* step = llvm::cast<llvm::SCEVConstant>(group.first->getStepRecurrence(evolution));
  llvm::Value* next = builder.CreateGEP(builder.getInt8Ty(), pointer, {step->getValue()});
  pointer->addIncoming(start, loop.getLoopPreheader());
  pointer->addIncoming(OpaquePointer(builder, next), loop.getLoopLatch());
}

}  // namespace

llvm::PreservedAnalyses PointerInductionPass::run(llvm::Function& function,
                                                  llvm::FunctionAnalysisManager& analyses) {
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
  bool changed = false;
  for (llvm::Loop* loop : analyses.getResult<llvm::LoopAnalysis>(function).getLoopsInPreorder()) {
    if (!loop->isInnermost() || loop->getLoopPreheader() == nullptr ||
        loop->getLoopLatch() == nullptr) {
      continue;
    }
    for (const PointerGroup& group : GroupLoads(*loop, evolution)) {
      if (group.loads.size() < kMinLoads) continue;
      RewritePointers(group, *loop, evolution);
      changed = true;
    }
  }
  return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
}

}  // namespace kiln::codegen
