// SPDX-License-Identifier: Apache-2.0
// A tile of dots as one loop in assembly (DotLoop).
#include <algorithm>
#include <bit>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "compiler/codegen/llvm/function_emitter.h"
#include "compiler/loop/dot_tile.h"
#include "compiler/target/instructions.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"

namespace kiln::codegen {
namespace {

constexpr uint64_t kWordBytes = 4;

// The row of a tile's instruction, or null if the machine lacks it.
const DotChoice* FindRow(const MachineTraits& traits, const loop::DotTile& tile) {
  for (const DotChoice& dot : traits.dots) {
    if (dot.row->IsNamed(tile.kind.instruction, tile.kind.group, tile.kind.swaps,
                         tile.kind.column_run, tile.a.buffer->dtype, tile.b.buffer->dtype)) {
      return &dot;
    }
  }
  return nullptr;
}

// Operands of a tile's loop: the addresses of the sums and the first factors, and the end of the
// columns. `end` is null if there is only one iteration. `row` is the number of elements between
// the rows of one dot and those of the next, or null if it is a constant.
struct TileAddresses {
  llvm::Value* sums;
  llvm::Align sum_align;
  llvm::Value* a;
  llvm::Value* b;
  llvm::Value* end;
  llvm::Value* row;
};

void EmitLoop(const loop::DotTile& tile, const DotLoop& found, const TileAddresses& at,
              llvm::IRBuilder<>& builder) {
  // The results are the sums, both addresses and the temporaries. The sums and the addresses are
  // operands as well.
  const size_t num_sums = static_cast<size_t>(found.rows) * static_cast<size_t>(found.columns);
  const size_t num_inputs = num_sums + 2;
  const size_t num_results = num_inputs + static_cast<size_t>(found.temporaries);
  llvm::Type* word = builder.getInt32Ty();
  std::vector<llvm::Value*> operands, sums;
  for (size_t i = 0; i < num_sums; ++i) {
    sums.push_back(builder.CreateConstInBoundsGEP1_64(word, at.sums, i));
    operands.push_back(builder.CreateAlignedLoad(word, sums.back(), at.sum_align));
  }
  operands.insert(operands.end(), {at.a, at.b});

  std::vector<std::pair<std::string, std::string>> names;  // in the text, and as LLVM's operands
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
  std::string assembly;
  for (int i = 0; i < loop::DotTile::StepsOfIteration(tile.kind.steps) * tile.chain.length; ++i) {
    const int row_bytes = tile.a.buffer->dtype.bytes();
    if (at.row != nullptr && i > 0) {
      absl::StrAppend(&assembly, "add $", num_sums, ", $", num_sums, ", $",
                      num_results + num_inputs, ", lsl #",
                      std::countr_zero(static_cast<unsigned>(row_bytes)), "\n");
    }
    const std::string step =
        found.StepAt(at.row != nullptr ? 0 : i * tile.row_elements() * row_bytes,
                     i * tile.chain.b_step * tile.b.buffer->dtype.bytes());
    absl::StrAppend(&assembly, absl::StrReplaceAll(step, names));
  }
  if (at.row != nullptr) {
    operands.push_back(at.row);
    absl::StrAppend(&constraints, ",r");
  } else if (at.end != nullptr) {
    operands.push_back(at.end);
    absl::StrAppend(&constraints, ",r");
    assembly = absl::StrCat("1:\n", assembly, "cmp ", "$", num_sums + 1, ", $",
                            num_results + num_inputs, "\nbne 1b\n");
  }
  absl::StrAppend(&constraints, ",~{memory},~{cc}");
  std::vector<llvm::Type*> operand_types;
  for (llvm::Value* operand : operands) operand_types.push_back(operand->getType());
  auto* type = llvm::FunctionType::get(llvm::StructType::get(builder.getContext(), types),
                                       operand_types, false);
  auto* code = llvm::InlineAsm::get(type, assembly, constraints, /*hasSideEffects=*/true);
  llvm::Value* results = builder.CreateCall(type, code, operands);
  for (size_t i = 0; i < num_sums; ++i) {
    builder.CreateAlignedStore(builder.CreateExtractValue(results, static_cast<unsigned>(i)),
                               sums[i], at.sum_align);
  }
}

// Distinguishes the loops of tiles, except for the number of iterations and the length of rows.
std::string NameOf(const loop::DotTile& tile, const DotLoop& found) {
  return absl::StrCat("kiln_dots_", tile.kind.instruction, "_", found.rows, "x", found.columns, "_",
                      loop::DotTile::StepsOfIteration(tile.kind.steps), "_", tile.slide, "_",
                      tile.chain.length, "_", tile.chain.b_step);
}

}  // namespace

void FunctionEmitter::CallDotLoop(const loop::DotTile& tile, const DotLoop& found,
                                  const std::vector<llvm::Value*>& arguments) {
  const std::string name = NameOf(tile, found);
  llvm::Function* shared = context_.module.getFunction(name);
  if (shared == nullptr) {
    std::vector<llvm::Type*> params;
    for (const llvm::Value* argument : arguments) params.push_back(argument->getType());
    shared = llvm::Function::Create(llvm::FunctionType::get(builder_.getVoidTy(), params, false),
                                    llvm::GlobalValue::InternalLinkage, name, context_.module);
    context_.Decorate(shared, machine_);
    shared->addFnAttr(llvm::Attribute::NoInline);
    llvm::IRBuilder<> builder(llvm::BasicBlock::Create(builder_.getContext(), "entry", shared));
    EmitLoop(tile, found,
             {.sums = shared->getArg(0),
              .sum_align = llvm::Align(kWordBytes),
              .a = shared->getArg(1),
              .b = shared->getArg(2),
              .end = tile.slide == 0 ? shared->getArg(3) : nullptr,
              .row = tile.chain.length > 1 ? shared->getArg(3) : nullptr},
             builder);
    builder.CreateRetVoid();
  }
  builder_.CreateCall(shared, arguments)->setDoesNotThrow();
}

bool FunctionEmitter::EmitDotTile(const loop::DotTile& tile) {
  const DotChoice* dot = FindRow(machine_.traits, tile);
  int64_t repeats = 0;
  const bool by_matrices =
      dot != nullptr && dot->row->HoldsTile(tile.shape.rows, tile.shape.columns, tile.shape.run) &&
      loop::AsInt(tile.repeats, &repeats) && repeats > 0;
  if (by_matrices) {
    EmitMatrices(tile, *dot);
    return true;
  }
  if (tile.kind.column_run > 0) {  // too many elements for vectors
    EmitStmt(made_statements_.emplace_back(loop::WrittenOut(tile)));
    return true;
  }
  if (dot == nullptr) return false;
  const DotLoop* found =
      dot->row->FindLoop(tile.shape.rows, tile.shape.columns, tile.shape.run, tile.slide);
  if (found == nullptr) return false;
  llvm::Value* sums = ArgumentAddress(tile.sums);
  llvm::Value* a = ArgumentAddress(tile.a);
  llvm::Value* b = ArgumentAddress(tile.b);
  llvm::Value* end = nullptr;
  // A shared loop has an end even for tiles with one iteration.
  const bool one_iteration = loop::DotTile::StepsOfIteration(tile.kind.steps) == tile.kind.steps &&
                             loop::IsInt(tile.repeats, 1);
  if (tile.slide == 0 && (context_.options.small_code || !one_iteration)) {
    const int64_t bytes =
        int64_t{tile.shape.columns} * tile.shape.terms() * tile.b.buffer->dtype.bytes();
    end = builder_.CreateInBoundsGEP(builder_.getInt8Ty(), b,
                                     EmitExpr(tile.repeats * loop::Expr(bytes)));
  }
  int64_t row_elements = 0;
  const bool takes_row = tile.chain.length > 1 && (context_.options.small_code ||
                                                   !loop::AsInt(tile.chain.a_step, &row_elements));
  if (context_.options.small_code || takes_row) {
    std::vector<llvm::Value*> arguments = {sums, a, b};
    if (end != nullptr) arguments.push_back(end);
    if (takes_row) arguments.push_back(EmitExpr(tile.chain.a_step));
    CallDotLoop(tile, *found, arguments);
  } else {
    EmitLoop(tile, *found,
             {.sums = sums,
              .sum_align = ElementAlign(tile.sums.buffer),
              .a = a,
              .b = b,
              .end = end,
              .row = nullptr},
             builder_);
  }
  return true;
}

}  // namespace kiln::codegen
