// SPDX-License-Identifier: Apache-2.0
// Emits the body of one loop::Func. Statements are in emit_statements.cc, calls in emit_calls.cc,
// failures in emit_fail.cc, expressions in emit_expressions.cc, emit_casts.cc, emit_float16.cc and
// emit_bfloat16.cc, loads and stores in emit_memory.cc.
#ifndef KILN_COMPILER_CODEGEN_LLVM_FUNCTION_EMITTER_H_
#define KILN_COMPILER_CODEGEN_LLVM_FUNCTION_EMITTER_H_

#include <string>
#include <unordered_map>
#include <vector>

#include "absl/types/span.h"
#include "compiler/codegen/llvm/module_context.h"
#include "compiler/loop/dot_tile.h"
#include "compiler/loop/loop.h"
#include "compiler/target/instructions.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/IRBuilder.h"

namespace kiln::codegen {

class FunctionEmitter {
 public:
  FunctionEmitter(ModuleContext& context, const FuncSymbols& symbols);
  void Emit();

 private:
  // Statements. The builder's position is the end of the code of all earlier statements.
  void BindParams();
  void EmitStmt(const loop::Stmt& stmt);
  void Emit(const loop::For& node);
  void Emit(const loop::Store& node);
  void Emit(const loop::Prefetch& node);
  void Emit(const loop::Block& node);
  // Emits independent stores in lockstep: one operation of each store in turn.
  void EmitTogether(absl::Span<const loop::Stmt> stores);
  void Emit(const loop::If& node);
  void Emit(const loop::Allocate& node);
  void Emit(const loop::Call& node);
  void Emit(const loop::Launch& node);
  void Emit(const loop::Fail& node);
  // Ends the function with an error, and thereby the builder's block.
  void EmitFail(absl::string_view before, llvm::Value* number, bool is_signed,
                absl::string_view after);

  // Calls.
  void EmitProfileHook(int32_t profile_index, bool begin);
  void EmitUnpackedCall(const FuncSymbols& callee, const loop::Call& node);
  void EmitPackedCall(const FuncSymbols& callee, const loop::Call& node);
  // The handle of the function with this name. Ends the function if the runtime has none.
  llvm::Value* LookUp(const std::string& function);
  // The buffer for argument `i` of `callee`; the last one is the workspace.
  static loop::Buffer ParamOf(const loop::Func& callee, size_t i);
  void StoreTensor(llvm::Value* tensor, const loop::Buffer& param, llvm::Value* data);
  llvm::Function* TaskTrampoline(const FuncSymbols& task);
  llvm::StructType* ClosureType(const FuncSymbols& task);
  // Ends the function with success if the pointers are equal.
  void ReturnIfSame(llvm::Value* a, llvm::Value* b);
  // Ends the function with `status` if it is not zero.
  void ReturnIfNonZero(llvm::Value* status);
  llvm::Value* ArgumentAddress(const loop::Argument& argument);
  // True if the arguments are all pointers that this function takes, in the same order.
  bool PassesAllOn(const loop::Call& node) const;
  // Returns the arguments in an array.
  llvm::Value* ArgumentArray(const loop::Call& node);

  // Expressions. A node that occurs several times in one statement is emitted once.
  llvm::Value* EmitExpr(const loop::Expr& e);
  llvm::Value* EmitNode(const loop::Expr& e);
  llvm::Value* EmitUnary(const loop::Unary& node, const loop::Type& type);
  llvm::Value* EmitBinary(const loop::Binary& node, const loop::Type& type);
  llvm::Value* EmitFloatBinary(loop::BinaryOp op, llvm::Value* a, llvm::Value* b);
  llvm::Value* EmitBoolBinary(loop::BinaryOp op, llvm::Value* a, llvm::Value* b);
  llvm::Value* EmitIntBinary(loop::BinaryOp op, const loop::Type& type, llvm::Value* a,
                             llvm::Value* b);
  llvm::Value* EmitDivision(loop::BinaryOp op, const loop::Type& type, llvm::Value* a,
                            llvm::Value* b);
  llvm::Value* EmitCompare(const loop::Compare& node);
  llvm::Value* EmitFma(const loop::Fma& node, const loop::Type& type);
  // `a` is the value of `source`.
  llvm::Value* EmitFloatToInt(const loop::Expr& source, llvm::Value* a, const loop::Type& type);
  llvm::Value* EmitCast(const loop::Cast& node, const loop::Type& type);
  // Converts `a` to the type `to` by `convert`. It works lane by lane if the machine's vectors only
  // hold integers: for two lanes, LLVM would convert to int64 by calls of the compiler's library.
  llvm::Value* ByLanes(
      llvm::Value* a, llvm::Type* to,
      llvm::function_ref<llvm::Value*(llvm::Value* x, llvm::Type* result)> convert);
  llvm::Value* EmitFloatFromHalf(llvm::Value* half);
  llvm::Value* EmitHalfFromFloat(llvm::Value* x);
  llvm::Value* EmitFloatFromBFloat(llvm::Value* bits);
  llvm::Value* EmitBFloatFromFloat(llvm::Value* x);
  // Adds one product of bfloat16 to `sum`, as a dot of float32 does.
  llvm::Value* EmitBFloatProduct(llvm::Value* a, llvm::Value* b, llvm::Value* sum);
  // The same for `apart`, a sum of such products.
  llvm::Value* EmitSumOfBFloats(llvm::Value* sum, llvm::Value* apart);
  // Returns a variable of the loop IR that is bound to `value`.
  loop::Expr Bound(const char* name, DType dtype, llvm::Value* value);
  llvm::Value* EmitRamp(const loop::Ramp& node, const loop::Type& type);
  llvm::Value* EmitRound(loop::UnaryOp op, DType dtype, llvm::Value* x);
  llvm::Value* EmitSqrt(DType dtype, llvm::Value* x);
  // fma(a, b, c) of float32 by float64 arithmetic, for machines that lack the instruction.
  llvm::Value* EmitFmaInDouble(llvm::Value* a, llvm::Value* b, llvm::Value* c);
  llvm::Value* EmitRoundingMulHigh(llvm::Value* a, llvm::Value* b);
  llvm::Value* EmitRoundingMulTop(llvm::Value* a, llvm::Value* b);
  void KeepSharedUpperWords();
  llvm::Value* Hidden(llvm::Value* value);
  std::pair<llvm::Value*, llvm::Value*> ProductsByHalves(llvm::Value* a, llvm::Value* b,
                                                         uint64_t plus);
  llvm::Value* EvenAndOddLanes(llvm::Value* even, llvm::Value* odd, llvm::Type* type);
  llvm::Value* OddLanes(llvm::Value* even, llvm::Value* odd, llvm::Type* type);
  llvm::Value* EmitRoundingShr(llvm::Value* a, llvm::Value* amount);
  llvm::Value* EmitSaturate(DType to, llvm::Value* a);
  llvm::Value* EmitNarrow(DType to, llvm::Value* a);

  // Dot products (emit_dot.cc).
  llvm::Value* EmitDot(const loop::Dot& node, const loop::Type& type);
  llvm::Value* EmitPlainDot(const loop::Dot& node, const loop::DotShape& shape, llvm::Value* sum,
                            llvm::Value* a, llvm::Value* b);
  // Returns false if the machine has no loop for the tile, and its columns are not stored in runs.
  bool EmitDotTile(const loop::DotTile& tile);
  // In matrix registers (emit_matrices.cc).
  void EmitMatrices(const loop::DotTile& tile, const DotChoice& dot);
  // Code before and after the body of a function that uses matrix registers. The former requests
  // the registers from the operating system, between the function's first block and `start`, and
  // sets their shapes. The latter releases them.
  void EmitBeforeMatrices(llvm::BasicBlock* entry, llvm::BasicBlock* start);
  void EmitBehindMatrices();
  // Calls a function that tiles with different numbers of iterations or row lengths share. Its
  // arguments are the addresses of the sums and of both factors. The end of the columns follows if
  // rows do not overlap. The number of elements between the rows of one dot and the next follows if
  // there are several dots.
  void CallDotLoop(const loop::DotTile& tile, const DotLoop& found,
                   const std::vector<llvm::Value*>& arguments);

  // Memory.
  struct Address {
    llvm::Value* base;  // index of lane 0, in elements
    bool affine;        // lane i is at base + i * stride
    int64_t stride;
    llvm::Value* lanes;  // if not affine: the vector of the lanes' indices
  };
  llvm::Value* EmitLoad(const loop::Load& node, const loop::Type& type);
  llvm::Value* LoadStrided(const loop::Buffer& buffer, const Address& address, int lanes);
  // Row-major index, in elements, for a one- or multi-dimensional index.
  Address ElementIndex(const loop::Buffer& buffer, const std::vector<loop::Expr>& index, int lanes);
  bool AffineOf(const loop::Expr& e, Address* out);
  llvm::Value* BufferBase(const loop::Buffer& buffer);
  llvm::Value* ElementPointer(const loop::Buffer& buffer, llvm::Value* index);
  llvm::Align ElementAlign(const loop::Buffer& buffer) const;
  llvm::Value* LaneOf(const Address& address, int lane);

  llvm::AllocaInst* EntryAlloca(llvm::Type* type, uint64_t count, llvm::Align align,
                                const llvm::Twine& name);
  llvm::Value* IndexConst(int64_t value);
  llvm::Value* Poison(const loop::Type& type);

  ModuleContext& context_;
  const IrTypes& types_;
  const FuncSymbols& symbols_;
  const loop::Func& func_;
  const Machine& machine_;
  llvm::Function* function_;
  llvm::IRBuilder<> builder_;
  std::unordered_map<const loop::ExprNode*, llvm::Value*> vars_;
  std::unordered_map<const loop::ExprNode*, llvm::Value*> memo_;
  std::vector<loop::Expr> made_;  // expressions made here, whose nodes are keys of the maps
  std::vector<loop::Stmt> made_statements_;
  std::unordered_map<const loop::BufferNode*, llvm::Value*> buffers_;
  // Memory for the arguments of packed calls. All calls of the function share it, since they never
  // overlap.
  llvm::AllocaInst* tensors_ = nullptr;
  llvm::AllocaInst* values_ = nullptr;
  llvm::AllocaInst* result_ = nullptr;
  llvm::AllocaInst* handle_ = nullptr;  // handle of a function that was looked up
  // For functions that take an array of pointers (TakesArray): the position of each buffer in this
  // function's array, and the memory for arrays that it passes.
  std::unordered_map<const loop::BufferNode*, size_t> array_positions_;
  llvm::AllocaInst* array_ = nullptr;
  std::vector<llvm::Instruction*> upper_words_;  // upper words of scalar products
  bool uses_matrices_ = false;
};

}  // namespace kiln::codegen

#endif  // KILN_COMPILER_CODEGEN_LLVM_FUNCTION_EMITTER_H_
