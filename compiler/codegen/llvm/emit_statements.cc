// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "compiler/codegen/llvm/function_emitter.h"
#include "compiler/loop/mutate.h"
#include "compiler/loop/runs.h"
#include "compiler/loop/scalars.h"
#include "llvm/Support/MathExtras.h"

namespace kiln::codegen {
namespace {

// Vector operations that depend on each other, as in an exponential, take many times as long as the
// machine needs to start them. It looks ahead for independent ones, but not beyond its queues. So
// stores with this many operations are computed together.
constexpr int kLongOperations = 16;
constexpr size_t kStoresTogether = 4;

const loop::Store* AsLongStore(const loop::Stmt& stmt) {
  const auto* store = stmt ? stmt.As<loop::Store>() : nullptr;
  if (store == nullptr || !store->value.type().is_vector() ||
      !store->value.type().dtype.is_float()) {
    return nullptr;
  }
  int operations = 0;
  loop::VisitExpr(store->value, [&](const loop::Expr& e) {
    operations += e.type().is_vector() && !e.type().index ? 1 : 0;
  });
  return operations >= kLongOperations ? store : nullptr;
}

bool Loads(const loop::Store& store, const loop::Buffer& buffer) {
  bool loads = false;
  loop::VisitExpr(store.value, [&](const loop::Expr& e) {
    const auto* load = e.As<loop::Load>();
    loads |= load != nullptr && load->buffer == buffer;
  });
  return loads;
}

// Number of leading statements that are long stores and do not read what another of them stores. A
// store that reads its own buffer, because its output overlaps an input, is not counted.
size_t CountTogether(absl::Span<const loop::Stmt> stmts) {
  std::vector<const loop::Store*> stores;
  for (const loop::Stmt& stmt : stmts.first(std::min(stmts.size(), kStoresTogether))) {
    const loop::Store* store = AsLongStore(stmt);
    if (store == nullptr || Loads(*store, store->buffer)) break;
    const bool apart = std::none_of(stores.begin(), stores.end(), [&](const loop::Store* other) {
      return Loads(*store, other->buffer) || Loads(*other, store->buffer);
    });
    if (!apart) break;
    stores.push_back(store);
  }
  return stores.size();
}

// Returns the loop as a copy of at least a word, on machines that copy memory best by words.
// Machines with caches have vectors.
std::optional<loop::CopyLoop> CopyOfMemory(const loop::For& node, const Target& target) {
  constexpr int64_t kWordBytes = 4;
  if (!target.short_of_memory) return std::nullopt;
  std::optional<loop::CopyLoop> copy = loop::AsCopy(node);
  const bool is_long = copy.has_value() && copy->elements * copy->to->dtype.bytes() >= kWordBytes;
  return is_long ? copy : std::nullopt;
}

}  // namespace

FunctionEmitter::FunctionEmitter(ModuleContext& context, const FuncSymbols& symbols)
    : context_(context),
      types_(context.types),
      symbols_(symbols),
      func_(*symbols.func),
      machine_(context.MachineOf(func_)),
      function_(symbols.body),
      builder_(context.module.getContext()) {}

void FunctionEmitter::Emit() {
  // Allocas go to a block of their own, so that they come first.
  auto* entry = llvm::BasicBlock::Create(context_.module.getContext(), "entry", function_);
  auto* start = llvm::BasicBlock::Create(context_.module.getContext(), "start", function_);
  builder_.SetInsertPoint(entry);
  builder_.CreateBr(start);
  builder_.SetInsertPoint(start);
  BindParams();
  if (func_.is_copy) {
    ReturnIfSame(buffers_.at(func_.params[0].get()), buffers_.at(func_.params[1].get()));
  }
  EmitStmt(func_.body);
  if (uses_matrices_) EmitBehindMatrices();
  builder_.CreateRet(builder_.getInt32(0));
  KeepSharedUpperWords();
  if (uses_matrices_) EmitBeforeMatrices(entry, start);
}

void FunctionEmitter::BindParams() {
  if (TakesArray(func_)) {
    for (size_t i = 0; i < NumPointers(func_); ++i) {
      array_positions_[ParamOf(func_, i).get()] = i;
    }
    return;
  }
  unsigned next = 0;
  const size_t leading = loop::NumLeadingScalars(func_);
  if (func_.scalars.size() < leading) {
    context_.Fail(absl::StrCat("task function ", func_.name, " lacks its two numbers"));
    return;
  }
  const auto bind = [&](size_t i) { vars_[func_.scalars[i].get()] = function_->getArg(next++); };
  for (size_t i = 0; i < leading; ++i) bind(i);
  for (const loop::Buffer& buffer : func_.params) {
    llvm::Argument* argument = function_->getArg(next++);
    argument->setName(buffer->name);
    buffers_[buffer.get()] = argument;
  }
  if (func_.workspace != nullptr) {
    llvm::Argument* workspace = function_->getArg(next++);
    workspace->setName(func_.workspace->name);
    buffers_[func_.workspace.get()] = workspace;
  }
  for (size_t i = leading; i < func_.scalars.size(); ++i) bind(i);
}

void FunctionEmitter::EmitStmt(const loop::Stmt& stmt) {
  if (!stmt) return;
  memo_.clear();
  std::visit([this](const auto& node) { Emit(node); }, stmt->value);
}

void FunctionEmitter::Emit(const loop::For& node) {
  const std::optional<loop::DotTile> tile = loop::AsDotTile(node);
  if (tile.has_value() && EmitDotTile(*tile)) return;
  llvm::Value* begin = EmitExpr(node.begin);
  llvm::Value* extent = EmitExpr(node.extent);
  int64_t constant = 0;
  const bool known = loop::AsInt(node.extent, &constant);
  if (known && constant <= 0) return;
  if (const std::optional<loop::CopyLoop> copy = CopyOfMemory(node, machine_.target)) {
    llvm::Value* to = ElementPointer(copy->to, EmitExpr(copy->to_first));
    llvm::Value* from = ElementPointer(copy->from, EmitExpr(copy->from_first));
    const llvm::Align align = ElementAlign(copy->to);
    const uint64_t bytes = static_cast<uint64_t>(copy->elements) * copy->to->dtype.bytes();
    if (func_.in_place) {
      builder_.CreateMemMove(to, align, from, align, bytes);
    } else {
      builder_.CreateMemCpy(to, align, from, align, bytes);
    }
    return;
  }
  if (known && constant == 1) {
    vars_[node.var.get()] = begin;
    EmitStmt(node.body);
    return;
  }
  llvm::LLVMContext& llvm_context = context_.module.getContext();
  llvm::Value* end = builder_.CreateNSWAdd(begin, extent);
  auto* body = llvm::BasicBlock::Create(llvm_context, "loop", function_);
  auto* exit = llvm::BasicBlock::Create(llvm_context, "after", function_);
  llvm::BasicBlock* preheader = builder_.GetInsertBlock();
  if (known) {
    builder_.CreateBr(body);
  } else {
    builder_.CreateCondBr(builder_.CreateICmpSLT(begin, end), body, exit);
  }
  builder_.SetInsertPoint(body);
  llvm::PHINode* var = builder_.CreatePHI(begin->getType(), 2, node.var.As<loop::VarNode>()->name);
  var->addIncoming(begin, preheader);
  vars_[node.var.get()] = var;
  EmitStmt(node.body);
  llvm::Value* next = builder_.CreateNSWAdd(var, llvm::ConstantInt::get(var->getType(), 1));
  var->addIncoming(next, builder_.GetInsertBlock());
  builder_.CreateCondBr(builder_.CreateICmpSLT(next, end), body, exit);
  exit->moveAfter(builder_.GetInsertBlock());
  builder_.SetInsertPoint(exit);
}

void FunctionEmitter::Emit(const loop::Block& node) {
  const absl::Span<const loop::Stmt> stmts = node.stmts;
  for (size_t i = 0; i < stmts.size();) {
    const size_t together = CountTogether(stmts.subspan(i));
    if (together > 1) EmitTogether(stmts.subspan(i, together));
    if (together <= 1) EmitStmt(stmts[i]);
    i += std::max(together, size_t{1});
  }
}

void FunctionEmitter::EmitTogether(absl::Span<const loop::Stmt> stores) {
  memo_.clear();
  std::vector<std::vector<loop::Expr>> operations;
  size_t most = 0;
  for (const loop::Stmt& stmt : stores) {
    std::vector<loop::Expr>& own = operations.emplace_back();
    loop::VisitExpr(stmt.As<loop::Store>()->value, [&](const loop::Expr& e) {
      if (e.type().is_vector() && !e.type().index) own.push_back(e);
    });
    most = std::max(most, own.size());
  }
  for (size_t i = 0; i < most; ++i) {
    for (const std::vector<loop::Expr>& own : operations) {
      if (i < own.size()) EmitExpr(own[i]);
    }
  }
  for (const loop::Stmt& stmt : stores) Emit(*stmt.As<loop::Store>());
}

void FunctionEmitter::Emit(const loop::If& node) {
  llvm::LLVMContext& llvm_context = context_.module.getContext();
  llvm::Value* condition = EmitExpr(node.condition);
  auto* then_block = llvm::BasicBlock::Create(llvm_context, "then", function_);
  auto* else_block =
      node.else_body ? llvm::BasicBlock::Create(llvm_context, "else", function_) : nullptr;
  auto* join = llvm::BasicBlock::Create(llvm_context, "join", function_);
  builder_.CreateCondBr(condition, then_block, else_block != nullptr ? else_block : join);
  builder_.SetInsertPoint(then_block);
  EmitStmt(node.then_body);
  builder_.CreateBr(join);
  if (else_block != nullptr) {
    builder_.SetInsertPoint(else_block);
    EmitStmt(node.else_body);
    builder_.CreateBr(join);
  }
  join->moveAfter(builder_.GetInsertBlock());
  builder_.SetInsertPoint(join);
}

void FunctionEmitter::Emit(const loop::Allocate& node) {
  const loop::BufferNode& buffer = *node.buffer;
  if (buffer.scope == loop::BufferScope::kWorkspace && func_.workspace != nullptr) {
    buffers_[&buffer] = builder_.CreateConstInBoundsGEP1_64(
        types_.i8, buffers_.at(func_.workspace.get()), node.workspace_offset, buffer.name);
    EmitStmt(node.body);
    return;
  }
  if (buffer.scope == loop::BufferScope::kStatic) {
    auto* type = llvm::ArrayType::get(types_.Storage(buffer.dtype), buffer.num_elements());
    auto* memory = new llvm::GlobalVariable(
        context_.module, type, /*isConstant=*/false, llvm::GlobalValue::InternalLinkage,
        llvm::ConstantAggregateZero::get(type), func_.name + "." + buffer.name);
    memory->setAlignment(llvm::Align(std::max(buffer.alignment_bytes, buffer.dtype.bytes())));
    buffers_[&buffer] = memory;
    EmitStmt(node.body);
    return;
  }
  const uint64_t elements = std::max<int64_t>(1, buffer.num_elements());
  const uint64_t bytes = elements * buffer.dtype.bytes();
  // The alignment that the machine's vectors can use, but no more than the buffer fills, because
  // aligning the stack has a cost on small machines.
  const uint64_t useful =
      std::min<uint64_t>({kCacheLineBytes, llvm::PowerOf2Ceil(bytes),
                          static_cast<uint64_t>(std::max(8, machine_.target.vector_bits / 8))});
  const uint64_t align = std::max<uint64_t>({useful, static_cast<uint64_t>(buffer.dtype.bytes()),
                                             static_cast<uint64_t>(buffer.alignment_bytes)});
  llvm::AllocaInst* memory =
      EntryAlloca(llvm::ArrayType::get(types_.Storage(buffer.dtype), elements), 1,
                  llvm::Align(align), buffer.name);
  buffers_[node.buffer.get()] = memory;
  // Buffers that are not live at the same time share stack.
  builder_.CreateLifetimeStart(memory, builder_.getInt64(bytes));
  EmitStmt(node.body);
  builder_.CreateLifetimeEnd(memory, builder_.getInt64(bytes));
}

llvm::AllocaInst* FunctionEmitter::EntryAlloca(llvm::Type* type, uint64_t count, llvm::Align align,
                                               const llvm::Twine& name) {
  llvm::IRBuilder<> entry(function_->getEntryBlock().getTerminator());
  llvm::AllocaInst* memory =
      entry.CreateAlloca(type, count == 1 ? nullptr : IndexConst(count), name);
  memory->setAlignment(align);
  return memory;
}

llvm::Value* FunctionEmitter::IndexConst(int64_t value) {
  return llvm::ConstantInt::get(types_.index, value, /*IsSigned=*/true);
}

llvm::Value* FunctionEmitter::Poison(const loop::Type& type) {
  return llvm::PoisonValue::get(types_.Value(type));
}

}  // namespace kiln::codegen
