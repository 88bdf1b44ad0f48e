// SPDX-License-Identifier: Apache-2.0
// A tile of dots as one loop in assembly (DotLoop).
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "compiler/codegen/llvm/function_emitter.h"
#include "compiler/loop/dot_tile.h"
#include "compiler/target/instructions.h"
#include "llvm/IR/InlineAsm.h"

namespace kiln::codegen {
namespace {

// The loop of a tile; null where the machine has none.
const DotLoop* FindLoop(const MachineTraits& traits, const loop::DotTile& tile) {
  for (const DotChoice& dot : traits.dots) {
    const DotInstruction& row = *dot.row;
    if (row.IsNamed(tile.kind.instruction, tile.kind.group, tile.kind.swaps, tile.a.buffer->dtype,
                    tile.b.buffer->dtype)) {
      return row.FindLoop(tile.shape.rows, tile.shape.columns, tile.shape.run, tile.slide);
    }
  }
  return nullptr;
}

}  // namespace

bool FunctionEmitter::EmitDotTile(const loop::Store& node) {
  const std::optional<loop::DotTile> tile = loop::AsDotTile(node);
  if (!tile.has_value()) return false;
  const DotLoop* found = FindLoop(machine_.traits, *tile);
  if (found == nullptr) return false;

  // Results: the sums, both addresses and the temporaries. The first of them are operands too.
  const size_t num_sums = static_cast<size_t>(found->rows) * static_cast<size_t>(found->columns);
  const size_t num_inputs = num_sums + 2;
  const size_t num_results = num_inputs + static_cast<size_t>(found->temporaries);
  std::vector<llvm::Value*> operands;
  std::vector<llvm::Value*> sums;
  llvm::Value* first_sum = EmitExpr(tile->sums.offset);
  llvm::Type* word = builder_.getInt32Ty();
  const llvm::Align sum_align = ElementAlign(tile->sums.buffer);
  for (size_t i = 0; i < num_sums; ++i) {
    llvm::Value* at = builder_.CreateAdd(first_sum, IndexConst(static_cast<int64_t>(i)));
    sums.push_back(ElementPointer(tile->sums.buffer, at));
    operands.push_back(builder_.CreateAlignedLoad(word, sums.back(), sum_align));
  }
  operands.push_back(ArgumentAddress(tile->a));
  llvm::Value* columns = ArgumentAddress(tile->b);
  operands.push_back(columns);

  std::vector<std::pair<std::string, std::string>> names;  // of the text, and LLVM's
  std::string constraints;
  std::vector<llvm::Type*> types;
  for (size_t i = 0; i < num_results; ++i) {
    const size_t temporary = i - std::min(i, num_inputs);
    names.emplace_back(i < num_sums        ? absl::StrCat("{s", i, "}")
                       : i == num_sums     ? "{a}"
                       : i == num_sums + 1 ? "{b}"
                                           : absl::StrCat("{t", temporary, "}"),
                       absl::StrCat("$", i));
    absl::StrAppend(&constraints, i == 0 ? "" : ",", "=&r");
    types.push_back(i < num_inputs ? operands[i]->getType() : word);
  }
  for (size_t i = 0; i < num_inputs; ++i) absl::StrAppend(&constraints, ",", i);
  const int of_iteration = DotLoop::StepsOfIteration(tile->kind.steps);
  std::string assembly;
  for (int i = 0; i < of_iteration * tile->chain.length; ++i) {
    const std::string step = found->StepAt(i * tile->chain.a_step * tile->a.buffer->dtype.bytes(),
                                           i * tile->chain.b_step * tile->b.buffer->dtype.bytes());
    absl::StrAppend(&assembly, absl::StrReplaceAll(step, names));
  }
  if (of_iteration < tile->kind.steps) {
    const int64_t bytes =
        int64_t{tile->shape.columns} * tile->shape.terms() * tile->b.buffer->dtype.bytes();
    operands.push_back(builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), columns,
                                                           static_cast<uint64_t>(bytes)));
    absl::StrAppend(&constraints, ",r");
    assembly = absl::StrCat("1:\n", assembly, "cmp ", "$", num_sums + 1, ", $",
                            num_results + num_inputs, "\nbne 1b\n");
  }
  absl::StrAppend(&constraints, ",~{memory},~{cc}");
  std::vector<llvm::Type*> operand_types;
  for (llvm::Value* operand : operands) operand_types.push_back(operand->getType());
  auto* type = llvm::FunctionType::get(llvm::StructType::get(builder_.getContext(), types),
                                       operand_types, false);
  auto* code = llvm::InlineAsm::get(type, assembly, constraints, /*hasSideEffects=*/true);
  llvm::Value* results = builder_.CreateCall(type, code, operands);
  for (size_t i = 0; i < num_sums; ++i) {
    builder_.CreateAlignedStore(builder_.CreateExtractValue(results, static_cast<unsigned>(i)),
                                sums[i], sum_align);
  }
  return true;
}

}  // namespace kiln::codegen
