// SPDX-License-Identifier: Apache-2.0
// Prints one function of the program: its statements, and the code around them that its convention
// requires.
#ifndef KILN_COMPILER_CODEGEN_C_FUNCTION_PRINTER_H_
#define KILN_COMPILER_CODEGEN_C_FUNCTION_PRINTER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "compiler/codegen/c/context.h"
#include "compiler/codegen/c/expr_printer.h"
#include "compiler/loop/dot_tile.h"

namespace kiln::codegen {

// Variable for the status of the last call.
inline constexpr char kStatus[] = "kiln_status";
// Macro that keeps compilers from inlining a function.
inline constexpr char kNotInlinedMacro[] = "KILN_NOT_INLINED";

class FunctionPrinter {
 public:
  FunctionPrinter(CContext& context, FuncInfo& info)
      : context_(context),
        info_(info),
        func_(*info.func),
        lines_(1),
        exprs_(context, vars_, buffers_, lines_) {}

  // Appends the function and the code around it.
  absl::Status Print(std::string* out);
  // "int32_t f(void* x, void* y)", without a semicolon. Only for functions that other object files
  // may call.
  std::string Prototype() const;

 private:
  // A pointer parameter.
  struct Param {
    loop::Buffer buffer;
    std::string name;        // of the parameter
    std::string local_name;  // typed pointer that the body uses; empty: it uses the parameter
  };

  void NameParams();
  std::string PointerType(size_t param) const;
  const char* Restrict(size_t param) const;  // " restrict ", or " "
  std::string Signature() const;

  void PrintStmt(const loop::Stmt& s);
  // Prints the statement into a block of its own, which the caller has opened.
  void PrintBody(const loop::Stmt& s);
  void PrintFor(const loop::For& node);
  void PrintIf(const loop::If& node);
  void PrintAllocate(const loop::Allocate& node);
  void PrintCall(const loop::Call& node);
  void PrintFail(const loop::Fail& node);
  // Prints the call, and a return of its status if that is not 0.
  void ReturnIfNonZero(const std::string& call);
  void PrintProfileHook(int32_t profile_index, bool begin);
  void PrintUnpackedCall(const FuncInfo& callee, const std::vector<loop::Argument>& args);
  void PrintPackedCall(const FuncInfo& callee, const std::vector<loop::Argument>& args);
  // Prints code that requests the address of a function from the runtime.
  void PrintLookup(const std::string& function);
  void PrintPrefetch(const loop::Prefetch& node);
  // Prints the tile if it has a loop or is for matrix registers, otherwise returns false.
  bool PrintDotTile(const loop::DotTile& tile);
  // Prints a tile whose columns are stored in runs, for the instruction `row` if it is not null. It
  // is in matrix registers, or in loops if `row` is null or the compiler does not know the
  // instruction.
  void PrintMatrices(const loop::DotTile& tile, const DotInstruction* row);
  // Code before and after the body of a function that uses matrix registers.
  std::string BeforeMatrices();
  std::string BehindMatrices() const;
  // Prints the store if it is of a dot with a vector of sums, otherwise returns false.
  bool PrintDotVector(const loop::Store& store);
  // Prints the vector stores at the beginning of `stmts`: by intrinsics, and as loops for compilers
  // that lack them. Returns their number.
  size_t PrintVectorStores(absl::Span<const loop::Stmt> stmts);
  void PrintLaunch(const loop::Launch& node);
  // The address that the argument refers to, for a parameter of `dtype`.
  std::string Address(const loop::Argument& arg, DType dtype, bool written);
  void Fail(const std::string& message);

  // For tasks: the closure, and the function that the runtime calls.
  std::string Trampoline() const;

  CContext& context_;
  FuncInfo& info_;
  const loop::Func& func_;
  LineWriter lines_;
  ExprPrinter::VarNames vars_;
  ExprPrinter::BufferNames buffers_;
  ExprPrinter exprs_;
  std::vector<Param> params_;
  std::vector<std::string> scalars_;
  bool uses_matrices_ = false;
  absl::Status status_;
};

// The packed function around `info.body_name`. It checks and unpacks the arguments, and allocates
// the workspace.
std::string PackedWrapper(CContext& context, const FuncInfo& info);
// "TVMValue* args, int* type_codes, …".
extern const char kPackedParameters[];
// Definitions of kiln_fail, kiln_check, kiln_check_workspace and kiln_argument, if they are used.
std::string PackedHelpers(CContext& context);
// "{1, 3}"; "{0}" for rank 0.
std::string ShapeInitializer(const Shape& shape);
// "2, 32": code and bits of the DLDataType.
std::string DLDataTypeFields(DType dtype);

}  // namespace kiln::codegen

#endif  // KILN_COMPILER_CODEGEN_C_FUNCTION_PRINTER_H_
