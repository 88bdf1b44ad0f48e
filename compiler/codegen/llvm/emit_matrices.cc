// SPDX-License-Identifier: Apache-2.0
// A tile of dots in registers that hold matrices (AMX). LLVM gives them numbers, and writes their shapes
// into the register that holds these before the first of a function.
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/codegen/llvm/function_emitter.h"
#include "compiler/loop/dot_tile.h"
#include "compiler/target/instructions.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/TargetParser/Triple.h"

namespace kiln::codegen {
namespace {

// Bytes of a whole register.
constexpr int64_t kMatrixBytes = int64_t{kMatrixSide} * kMatrixRowBytes;

class MatrixBuilder {
 public:
  explicit MatrixBuilder(llvm::IRBuilder<>& builder) : builder_(builder) {}

  llvm::Value* At(llvm::Value* address, int64_t bytes) {
    return builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), address,
                                               static_cast<uint64_t>(bytes));
  }

  llvm::Value* Load(llvm::Value* address, int64_t row_bytes) {
    return builder_.CreateIntrinsic(llvm::Intrinsic::x86_tileloadd64_internal, {},
                                    {Side(), RowBytes(), address, Bytes(row_bytes)});
  }

  void Store(llvm::Value* matrix, llvm::Value* address, int64_t row_bytes) {
    builder_.CreateIntrinsic(llvm::Intrinsic::x86_tilestored64_internal, {},
                             {Side(), RowBytes(), address, Bytes(row_bytes), matrix});
  }

  llvm::Value* AddProduct(const DotForm& form, llvm::Value* sum, llvm::Value* a, llvm::Value* b) {
    const llvm::Intrinsic::ID id =
        llvm::Function::lookupIntrinsicID(absl::StrCat("llvm.", form.llvm));
    return builder_.CreateIntrinsic(id, {}, {Side(), RowBytes(), RowBytes(), sum, a, b});
  }

 private:
  llvm::Value* Side() { return builder_.getInt16(kMatrixSide); }
  llvm::Value* RowBytes() { return builder_.getInt16(kMatrixRowBytes); }
  llvm::Value* Bytes(int64_t bytes) { return builder_.getInt64(static_cast<uint64_t>(bytes)); }

  llvm::IRBuilder<>& builder_;
};

constexpr char kRequest[] = "kiln.request_matrices";

// i64 request_matrices(): asks Linux once for the registers of AMX, which a process has to; other than
// 0: it has not got them.
llvm::Function* DefineRequest(ModuleContext& context, const Machine& machine) {
  llvm::IRBuilder<> builder(context.module.getContext());
  llvm::Type *byte = builder.getInt8Ty(), *word = builder.getInt64Ty();
  auto* request =
      llvm::Function::Create(llvm::FunctionType::get(word, false),
                             llvm::GlobalValue::InternalLinkage, kRequest, context.module);
  context.Decorate(request, machine);
  request->addFnAttr(llvm::Attribute::NoInline);
  auto* has_them = new llvm::GlobalVariable(context.module, byte, /*isConstant=*/false,
                                            llvm::GlobalValue::InternalLinkage,
                                            llvm::ConstantInt::get(byte, 0), "kiln.has_matrices");
  const auto block = [&](const char* name) {
    return llvm::BasicBlock::Create(builder.getContext(), name, request);
  };
  llvm::BasicBlock *entry = block("entry"), *ask = block("ask"), *granted = block("granted"),
                   *refused = block("refused");
  builder.SetInsertPoint(entry);
  llvm::LoadInst* had = builder.CreateAlignedLoad(byte, has_them, llvm::Align(1));
  had->setAtomic(llvm::AtomicOrdering::Monotonic);
  builder.CreateCondBr(builder.CreateIsNull(had), ask, granted);
  builder.SetInsertPoint(ask);
  auto* type = llvm::FunctionType::get(word, {word, word, word}, false);
  auto* call = llvm::InlineAsm::get(
      type, "syscall", "={rax},{rax},{rdi},{rsi},~{rcx},~{r11},~{memory}", /*hasSideEffects=*/true);
  llvm::Value* status = builder.CreateCall(
      type, call,
      {builder.getInt64(MatrixRequest::kCall), builder.getInt64(MatrixRequest::kOption),
       builder.getInt64(MatrixRequest::kComponent)});
  builder.CreateStore(builder.CreateZExt(builder.CreateIsNull(status), byte), has_them)
      ->setAtomic(llvm::AtomicOrdering::Monotonic);
  builder.CreateCondBr(builder.CreateIsNull(status), granted, refused);
  builder.SetInsertPoint(granted);
  builder.CreateRet(builder.getInt64(0));
  builder.SetInsertPoint(refused);
  builder.CreateRet(status);
  return request;
}

}  // namespace

void FunctionEmitter::EmitRequestForMatrices(llvm::BasicBlock* entry, llvm::BasicBlock* start) {
  if (!llvm::Triple(machine_.target.triple).isOSLinux()) return;
  llvm::Function* request = context_.module.getFunction(kRequest);
  if (request == nullptr) request = DefineRequest(context_, machine_);
  auto* refused = llvm::BasicBlock::Create(builder_.getContext(), "refused", function_);
  entry->getTerminator()->eraseFromParent();
  builder_.SetInsertPoint(entry);
  llvm::Value* status = builder_.CreateCall(request);
  builder_.CreateCondBr(builder_.CreateIsNull(status), start, refused);
  builder_.SetInsertPoint(refused);
  EmitFail(MatrixRequest::kRefusal, status, /*is_signed=*/true, "");
}

void FunctionEmitter::EmitMatrices(const loop::DotTile& tile, const DotChoice& dot) {
  const int rows = tile.shape.rows / kMatrixSide, columns = tile.shape.columns / kMatrixSide;
  const int64_t sum_row_bytes = int64_t{columns} * kMatrixRowBytes;
  uses_matrices_ = true;
  MatrixBuilder matrices(builder_);
  llvm::Value* sums = ArgumentAddress(tile.sums);
  llvm::Value* a = ArgumentAddress(tile.a);
  llvm::Value* b = ArgumentAddress(tile.b);
  // Prefetches are those of a tile of one step.
  const std::vector<loop::Stmt> prefetches =
      tile.kind.steps == 1 ? tile.prefetches : std::vector<loop::Stmt>();
  llvm::Value* steps = EmitExpr(tile.repeats * loop::Expr(tile.kind.steps));
  const auto each_sum = [&](const auto& f) {
    for (int row = 0; row < rows; ++row) {
      for (int column = 0; column < columns; ++column) {
        f(static_cast<size_t>(row) * static_cast<size_t>(columns) + static_cast<size_t>(column),
          matrices.At(sums, row * kMatrixSide * sum_row_bytes + column * kMatrixRowBytes));
      }
    }
  };
  std::vector<llvm::Value*> first(static_cast<size_t>(rows) * static_cast<size_t>(columns));
  each_sum([&](size_t i, llvm::Value* at) { first[i] = matrices.Load(at, sum_row_bytes); });

  llvm::BasicBlock* before = builder_.GetInsertBlock();
  auto* body = llvm::BasicBlock::Create(builder_.getContext(), "steps", function_);
  auto* exit = llvm::BasicBlock::Create(builder_.getContext(), "after", function_);
  builder_.CreateBr(body);
  builder_.SetInsertPoint(body);
  const auto phi = [&](llvm::Value* begin) {
    llvm::PHINode* node = builder_.CreatePHI(begin->getType(), 2);
    node->addIncoming(begin, before);
    return node;
  };
  llvm::PHINode* step = phi(llvm::ConstantInt::get(steps->getType(), 0));
  llvm::PHINode* a_at = phi(a);
  llvm::PHINode* b_at = phi(b);
  std::vector<llvm::PHINode*> before_step;
  for (llvm::Value* sum : first) before_step.push_back(phi(sum));
  if (!prefetches.empty()) vars_[tile.repeat.get()] = step;
  std::vector<llvm::Value*> of_rows, of_columns;
  for (int row = 0; row < rows; ++row) {
    of_rows.push_back(matrices.Load(matrices.At(a_at, row * kMatrixBytes), kMatrixRowBytes));
  }
  for (int column = 0; column < columns; ++column) {
    of_columns.push_back(
        matrices.Load(matrices.At(b_at, int64_t{column} * kMatrixRowBytes), sum_row_bytes));
  }
  std::vector<llvm::Value*> behind_step;
  size_t asked = 0;
  for (size_t i = 0; i < first.size(); ++i) {
    behind_step.push_back(matrices.AddProduct(*dot.form, before_step[i],
                                              of_rows[i / static_cast<size_t>(columns)],
                                              of_columns[i % static_cast<size_t>(columns)]));
    before_step[i]->addIncoming(behind_step[i], body);
    // As many behind every product: the core has few lines on their way at once.
    for (; asked < prefetches.size() * (i + 1) / first.size(); ++asked) EmitStmt(prefetches[asked]);
  }
  a_at->addIncoming(matrices.At(a_at, rows * kMatrixBytes), body);
  b_at->addIncoming(matrices.At(b_at, columns * kMatrixBytes), body);
  llvm::Value* next = builder_.CreateNSWAdd(step, llvm::ConstantInt::get(step->getType(), 1));
  step->addIncoming(next, body);
  builder_.CreateCondBr(builder_.CreateICmpSLT(next, steps), body, exit);
  builder_.SetInsertPoint(exit);
  each_sum([&](size_t i, llvm::Value* at) { matrices.Store(behind_step[i], at, sum_row_bytes); });
}

}  // namespace kiln::codegen
