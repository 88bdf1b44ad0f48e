// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/llvm/near_offsets.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "compiler/codegen/llvm/opaque_pointer.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/MathExtras.h"

namespace kiln::codegen {
namespace {

// Largest offset of an instruction in elements, in both directions.
constexpr int64_t kReach = 127;
// Alignment of offsets: the size of the largest elements.
constexpr uint64_t kAlignment = 4;
// An innermost loop with fewer moving pointers has a register for each.
constexpr size_t kMinMovingPointers = 6;

struct Access {
  llvm::Instruction* instruction;
  int64_t distance;  // bytes from the address of the first access
};

// Accesses in one block whose addresses differ by constants, in the order of the block.
struct OffsetGroup {
  const llvm::SCEV* first;
  int64_t reach;  // largest offset, in bytes
  std::vector<Access> accesses;
};

// Accesses that share one pointer.
struct Cluster {
  int64_t distance;  // bytes from the first access of the group to the pointer
  std::vector<Access> accesses;
};

int64_t ReachOf(llvm::Instruction& access) {
  const auto* vector = llvm::cast<llvm::VectorType>(llvm::getLoadStoreType(&access));
  return kReach * static_cast<int64_t>(vector->getScalarSizeInBits() / 8);
}

std::vector<OffsetGroup> GroupAccesses(llvm::BasicBlock& block, llvm::ScalarEvolution& evolution) {
  std::vector<OffsetGroup> groups;
  for (llvm::Instruction& instruction : block) {
    llvm::Value* pointer = llvm::getLoadStorePointerOperand(&instruction);
    if (pointer == nullptr || !llvm::getLoadStoreType(&instruction)->isVectorTy() ||
        !llvm::isa<llvm::Instruction>(pointer)) {
      continue;
    }
    const llvm::SCEV* address = evolution.getSCEV(pointer);
    const int64_t reach = ReachOf(instruction);
    bool found = false;
    for (OffsetGroup& group : groups) {
      const auto* distance =
          llvm::dyn_cast<llvm::SCEVConstant>(evolution.getMinusSCEV(address, group.first));
      if (distance == nullptr) continue;
      group.accesses.push_back({&instruction, distance->getAPInt().getSExtValue()});
      group.reach = std::min(group.reach, reach);
      found = true;
      break;
    }
    if (!found) groups.push_back({address, reach, {{&instruction, 0}}});
  }
  return groups;
}

std::vector<Cluster> Clusters(const OffsetGroup& group) {
  std::vector<Access> sorted = group.accesses;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Access& a, const Access& b) { return a.distance < b.distance; });
  std::vector<Cluster> clusters;
  int64_t begin = 0;
  for (const Access& access : sorted) {
    // The pointer is at the first access, or as far after it as the last access requires.
    const auto pointer = [&] {
      const int64_t behind = std::max<int64_t>(access.distance - begin - group.reach, 0);
      return begin + static_cast<int64_t>(llvm::alignTo(static_cast<uint64_t>(behind), kAlignment));
    };
    if (clusters.empty() || pointer() - begin > group.reach) {
      begin = access.distance;
      clusters.emplace_back();
    }
    clusters.back().distance = pointer();
    clusters.back().accesses.push_back(access);
  }
  return clusters;
}

void RewriteOffsets(const OffsetGroup& group) {
  llvm::Instruction* first = group.accesses.front().instruction;
  llvm::IRBuilder<> builder(first);
  const auto at = [&](llvm::Value* pointer, int64_t distance) {
    if (distance == 0) return pointer;
    return builder.CreateConstGEP1_64(builder.getInt8Ty(), pointer,
                                      static_cast<uint64_t>(distance));
  };
  llvm::Value* root = OpaquePointer(builder, llvm::getLoadStorePointerOperand(first));
  for (const Cluster& cluster : Clusters(group)) {
    const auto before = [](const Access& a, const Access& b) {
      return a.instruction->comesBefore(b.instruction);
    };
    builder.SetInsertPoint(
        std::min_element(cluster.accesses.begin(), cluster.accesses.end(), before)->instruction);
    llvm::Value* pointer =
        cluster.distance == 0 ? root : OpaquePointer(builder, at(root, cluster.distance));
    for (const Access& access : cluster.accesses) {
      builder.SetInsertPoint(access.instruction);
      const unsigned operand = llvm::isa<llvm::StoreInst>(access.instruction) ? 1 : 0;
      access.instruction->setOperand(operand, at(pointer, access.distance - cluster.distance));
    }
  }
}

}  // namespace

llvm::PreservedAnalyses NearOffsetsPass::run(llvm::Function& function,
                                             llvm::FunctionAnalysisManager& analyses) {
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
  const llvm::LoopInfo& loops = analyses.getResult<llvm::LoopAnalysis>(function);
  bool changed = false;
  for (llvm::BasicBlock& block : function) {
    const llvm::Loop* loop = loops.getLoopFor(&block);
    const bool in_innermost = loop != nullptr && loop->isInnermost();
    const std::vector<OffsetGroup> groups = GroupAccesses(block, evolution);
    // True if loop strength reduction can move the pointers of a group.
    const auto moves = [&](const OffsetGroup& group) {
      const auto* address = llvm::dyn_cast<llvm::SCEVAddRecExpr>(group.first);
      return in_innermost && address != nullptr && address->getLoop() == loop;
    };
    size_t moving = 0;
    for (const OffsetGroup& group : groups) {
      if (moves(group)) moving += Clusters(group).size();
    }
    for (const OffsetGroup& group : groups) {
      const bool has_registers = moves(group) && moving < kMinMovingPointers;
      if (group.accesses.size() == 1 || has_registers) continue;
      RewriteOffsets(group);
      changed = true;
    }
  }
  return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
}

}  // namespace kiln::codegen
