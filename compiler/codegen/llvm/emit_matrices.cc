// SPDX-License-Identifier: Apache-2.0
// A tile of dots in matrix registers (AMX), and the code before the first one in a function: it
// requests the registers from Linux and sets their shapes. The registers are assigned here, because
// LLVM's allocator copies some of them through memory between products.
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/codegen/llvm/function_emitter.h"
#include "compiler/loop/dot_tile.h"
#include "compiler/loop/mutate.h"
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

// Emits instructions with explicit register numbers.
class MatrixBuilder {
 public:
  explicit MatrixBuilder(llvm::IRBuilder<>& builder) : builder_(builder) {}

  llvm::Value* At(llvm::Value* address, int64_t bytes) {
    return builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), address,
                                               static_cast<uint64_t>(bytes));
  }

  void Load(int matrix, llvm::Value* address, int64_t row_bytes) {
    Add(llvm::Intrinsic::x86_tileloadd64, {Number(matrix), address, Bytes(row_bytes)});
  }

  void Store(int matrix, llvm::Value* address, int64_t row_bytes) {
    Add(llvm::Intrinsic::x86_tilestored64, {Number(matrix), address, Bytes(row_bytes)});
  }

  void AddProduct(const DotForm& form, int sum, int a, int b) {
    Add(llvm::Function::lookupIntrinsicID(absl::StrCat("llvm.", form.llvm)),
        {Number(sum), Number(a), Number(b)});
  }

  void SetShapes(llvm::Module& module) {
    llvm::GlobalVariable* shapes = module.getNamedGlobal(kShapes);
    if (shapes == nullptr) {
      auto* bytes = llvm::ConstantDataArray::get(module.getContext(),
                                                 llvm::ArrayRef<uint8_t>(MatrixShapes()));
      shapes = new llvm::GlobalVariable(module, bytes->getType(), /*isConstant=*/true,
                                        llvm::GlobalValue::PrivateLinkage, bytes, kShapes);
      shapes->setAlignment(llvm::Align(kMatrixRowBytes));
    }
    Add(llvm::Intrinsic::x86_ldtilecfg, {shapes});
  }

  void Release() { Add(llvm::Intrinsic::x86_tilerelease, {}); }

 private:
  static constexpr char kShapes[] = "kiln.matrix_shapes";

  llvm::Value* Number(int matrix) { return builder_.getInt8(static_cast<uint8_t>(matrix)); }
  llvm::Value* Bytes(int64_t bytes) { return builder_.getInt64(static_cast<uint64_t>(bytes)); }
  void Add(llvm::Intrinsic::ID id, llvm::ArrayRef<llvm::Value*> operands) {
    builder_.CreateIntrinsic(id, {}, operands);
  }

  llvm::IRBuilder<>& builder_;
};

constexpr char kRequest[] = "kiln.request_matrices";

// i64 request_matrices(): requests the registers of AMX from Linux once, as a process has to.
// Returns nonzero if it does not get them.
llvm::Function* DefineRequest(ModuleContext& context) {
  llvm::IRBuilder<> builder(context.module.getContext());
  llvm::Type *byte = builder.getInt8Ty(), *word = builder.getInt64Ty();
  auto* request =
      llvm::Function::Create(llvm::FunctionType::get(word, false),
                             llvm::GlobalValue::InternalLinkage, kRequest, context.module);
  context.Decorate(request);
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

llvm::Value* CallRequestMatrices(ModuleContext& context, llvm::IRBuilderBase& builder) {
  llvm::Function* request = context.module.getFunction(kRequest);
  if (request == nullptr) request = DefineRequest(context);
  return builder.CreateCall(request);
}

void FunctionEmitter::EmitBeforeMatrices(llvm::BasicBlock* entry, llvm::BasicBlock* start) {
  builder_.SetInsertPoint(start, start->getFirstInsertionPt());
  MatrixBuilder(builder_).SetShapes(context_.module);
  if (!TripleOf(machine_.target).isOSLinux()) return;
  auto* refused = llvm::BasicBlock::Create(builder_.getContext(), "refused", function_);
  entry->getTerminator()->eraseFromParent();
  builder_.SetInsertPoint(entry);
  llvm::Value* status = CallRequestMatrices(context_, builder_);
  builder_.CreateCondBr(builder_.CreateIsNull(status), start, refused);
  builder_.SetInsertPoint(refused);
  EmitFail(MatrixRequest::kRefusal, status, /*is_signed=*/true, "");
}

void FunctionEmitter::EmitBehindMatrices() { MatrixBuilder(builder_).Release(); }

void FunctionEmitter::EmitMatrices(const loop::DotTile& tile, const DotChoice& dot) {
  const int rows = tile.shape.rows / kMatrixSide, columns = tile.shape.columns / kMatrixSide;
  const int sums = rows * columns, first_row = sums, first_column = sums + rows;
  const int64_t column_bytes = int64_t{columns} * kMatrixRowBytes;  // a row of all columns
  uses_matrices_ = true;
  MatrixBuilder matrices(builder_);
  llvm::Value* sums_at = ArgumentAddress(tile.sums);
  llvm::Value* a = ArgumentAddress(tile.a);
  llvm::Value* b = ArgumentAddress(tile.b);
  // Prefetches are only for tiles with one step.
  const std::vector<loop::Stmt> prefetches =
      tile.kind.steps == 1 ? tile.prefetches : std::vector<loop::Stmt>();
  llvm::Value* steps = EmitExpr(tile.repeats * loop::Expr(tile.kind.steps));
  const auto address_of_sum = [&](int sum) {
    return matrices.At(sums_at, sum / columns * kMatrixSide * column_bytes +
                                    int64_t{sum % columns} * kMatrixRowBytes);
  };
  // Called functions release the registers.
  if (loop::CallsFunctions(func_.body)) matrices.SetShapes(context_.module);
  for (int sum = 0; sum < sums; ++sum) matrices.Load(sum, address_of_sum(sum), column_bytes);

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
  if (!prefetches.empty()) vars_[tile.repeat.get()] = step;
  const size_t products = tile.shape.products().size() * static_cast<size_t>(sums);
  size_t asked = 0, multiplied = 0;
  const auto load_rows = [&](int part) {
    for (int row = 0; row < rows; ++row) {
      matrices.Load(first_row + row, matrices.At(a_at, (part * rows + row) * kMatrixBytes),
                    kMatrixRowBytes);
    }
  };
  const auto load_columns = [&](int part) {
    for (int column = 0; column < columns; ++column) {
      matrices.Load(first_column + column,
                    matrices.At(b_at, part * columns * kMatrixBytes + column * kMatrixRowBytes),
                    column_bytes);
    }
  };
  tile.shape.ForEachProduct(load_rows, load_columns, [&] {
    for (int sum = 0; sum < sums; ++sum) {
      matrices.AddProduct(*dot.form, sum, first_row + sum / columns, first_column + sum % columns);
      // The same number after every product, because the core can only have a few lines in flight.
      for (++multiplied; asked < prefetches.size() * multiplied / products; ++asked) {
        EmitStmt(prefetches[asked]);
      }
    }
  });
  a_at->addIncoming(matrices.At(a_at, tile.shape.parts * rows * kMatrixBytes), body);
  b_at->addIncoming(matrices.At(b_at, tile.shape.parts * columns * kMatrixBytes), body);
  llvm::Value* next = builder_.CreateNSWAdd(step, llvm::ConstantInt::get(step->getType(), 1));
  step->addIncoming(next, body);
  builder_.CreateCondBr(builder_.CreateICmpSLT(next, steps), body, exit);
  builder_.SetInsertPoint(exit);
  for (int sum = 0; sum < sums; ++sum) matrices.Store(sum, address_of_sum(sum), column_bytes);
}

}  // namespace kiln::codegen
