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
  // Statements: code is added at the builder's position, which is at the end of what ran before.
  void BindParams();
  void EmitStmt(const loop::Stmt& stmt);
  void Emit(const loop::For& node);
  void Emit(const loop::Store& node);
  void Emit(const loop::Prefetch& node);
  void Emit(const loop::Block& node);
  // Stores that do not depend on each other: the operations of all of them in turn.
  void EmitTogether(absl::Span<const loop::Stmt> stores);
  void Emit(const loop::If& node);
  void Emit(const loop::Allocate& node);
  void Emit(const loop::Call& node);
  void Emit(const loop::Launch& node);
  void Emit(const loop::Fail& node);
  // Ends the function with an error; the builder's block has an end then.
  void EmitFail(absl::string_view before, llvm::Value* number, bool is_signed,
                absl::string_view after);

  // Calls.
  void EmitProfileHook(int32_t profile_index, bool begin);
  void EmitUnpackedCall(const FuncSymbols& callee, const loop::Call& node);
  void EmitPackedCall(const FuncSymbols& callee, const loop::Call& node);
  // The handle of the function of that name; ends the function if the runtime has none.
  llvm::Value* LookUp(const std::string& function);
  // Type and element count of callee's argument `i`, the workspace included.
  static loop::Buffer ParamOf(const loop::Func& callee, size_t i);
  void StoreTensor(llvm::Value* tensor, const loop::Buffer& param, llvm::Value* data);
  llvm::Function* TaskTrampoline(const FuncSymbols& task);
  llvm::StructType* ClosureType(const FuncSymbols& task);
  // Ends the function with success if both pointers are one.
  void ReturnIfSame(llvm::Value* a, llvm::Value* b);
  // Ends the function with `status` if it is not zero.
  void ReturnIfNonZero(llvm::Value* status);
  llvm::Value* ArgumentAddress(const loop::Argument& argument);
  // Whether the arguments are all pointers that this function was given, in their order.
  bool PassesAllOn(const loop::Call& node) const;
  // The arguments in an array.
  llvm::Value* ArgumentArray(const loop::Call& node);

  // Expressions. A node that occurs several times within one statement is emitted once.
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
  // `source` is what `a` was emitted of.
  llvm::Value* EmitFloatToInt(const loop::Expr& source, llvm::Value* a, const loop::Type& type);
  llvm::Value* EmitCast(const loop::Cast& node, const loop::Type& type);
  // `convert` of `a` to the type `to`, lane by lane if the vectors of the machine hold integers only:
  // for two lanes, LLVM would convert to int64 by calls of the compiler's library.
  llvm::Value* ByLanes(
      llvm::Value* a, llvm::Type* to,
      llvm::function_ref<llvm::Value*(llvm::Value* x, llvm::Type* result)> convert);
  llvm::Value* EmitFloatFromHalf(llvm::Value* half);
  llvm::Value* EmitHalfFromFloat(llvm::Value* x);
  llvm::Value* EmitFloatFromBFloat(llvm::Value* bits);
  llvm::Value* EmitBFloatFromFloat(llvm::Value* x);
  // What a dot of float32 makes of `sum` by one product of bfloat16.
  llvm::Value* EmitBFloatProduct(llvm::Value* a, llvm::Value* b, llvm::Value* sum);
  // The same by a sum of such products.
  llvm::Value* EmitSumOfBFloats(llvm::Value* sum, llvm::Value* apart);
  // A variable of the loop IR that stands for `value`.
  loop::Expr Bound(const char* name, DType dtype, llvm::Value* value);
  llvm::Value* EmitRamp(const loop::Ramp& node, const loop::Type& type);
  llvm::Value* EmitRound(loop::UnaryOp op, DType dtype, llvm::Value* x);
  llvm::Value* EmitSqrt(DType dtype, llvm::Value* x);
  // fma(a, b, c) of float32 by float64 arithmetic, for machines without the instruction.
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
  // False where the machine has no loop for the tile.
  bool EmitDotTile(const loop::DotTile& tile);
  // In registers that hold matrices (emit_matrices.cc).
  void EmitMatrices(const loop::DotTile& tile, const DotChoice& dot);
  // What stands before and behind the body of a function that uses such registers: asks the operating
  // system for them between the function's first block and `start`, and sets their shapes; and gives them
  // back.
  void EmitBeforeMatrices(llvm::BasicBlock* entry, llvm::BasicBlock* start);
  void EmitBehindMatrices();
  // By a function that tiles of any number of iterations share, or of rows of any length: of the
  // addresses of the sums and of both factors, and then of the end of the columns where rows do not
  // overlap, or of the elements between the rows of one dot and the next where there are several.
  void CallDotLoop(const loop::DotTile& tile, const DotLoop& found,
                   const std::vector<llvm::Value*>& arguments);

  // Memory.
  struct Address {
    llvm::Value* base;  // of lane 0, in elements
    bool affine;        // lane i is at base + i * stride
    int64_t stride;
    llvm::Value* lanes;  // not affine: the vector of all lanes' elements
  };
  llvm::Value* EmitLoad(const loop::Load& node, const loop::Type& type);
  llvm::Value* LoadStrided(const loop::Buffer& buffer, const Address& address, int lanes);
  // Row-major index in elements of a one- or multi-dimensional index.
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
  std::vector<loop::Expr> made_;  // here, of which the maps have nodes
  std::vector<loop::Stmt> made_statements_;
  std::unordered_map<const loop::BufferNode*, llvm::Value*> buffers_;
  // Argument memory of packed calls, shared by all calls of the function: they never overlap.
  llvm::AllocaInst* tensors_ = nullptr;
  llvm::AllocaInst* values_ = nullptr;
  llvm::AllocaInst* result_ = nullptr;
  llvm::AllocaInst* handle_ = nullptr;  // of a function that was looked up
  // Of functions that take an array of pointers (TakesArray): where each is in this one's, and the
  // memory of those that are passed.
  std::unordered_map<const loop::BufferNode*, size_t> array_positions_;
  llvm::AllocaInst* array_ = nullptr;
  std::vector<llvm::Instruction*> upper_words_;  // of products, in scalars
  bool uses_matrices_ = false;
};

}  // namespace kiln::codegen

#endif  // KILN_COMPILER_CODEGEN_LLVM_FUNCTION_EMITTER_H_
