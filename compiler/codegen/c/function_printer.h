// SPDX-License-Identifier: Apache-2.0
// Prints one function of the program: its statements, and around them the form that its convention
// asks for.
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

// A variable of functions that call others: what the last call returned.
inline constexpr char kStatus[] = "kiln_status";
// A macro before functions that compilers must not copy into their callers.
inline constexpr char kNotInlinedMacro[] = "KILN_NOT_INLINED";

class FunctionPrinter {
 public:
  FunctionPrinter(CContext& context, FuncInfo& info)
      : context_(context),
        info_(info),
        func_(*info.func),
        lines_(1),
        exprs_(context, vars_, buffers_, lines_) {}

  // Appends the whole function, with what surrounds it.
  absl::Status Print(std::string* out);
  // "int32_t f(void* x, void* y)", without a semicolon; only for functions that other objects may
  // call.
  std::string Prototype() const;

 private:
  // A pointer parameter.
  struct Param {
    loop::Buffer buffer;
    std::string name;  // of the parameter
    std::string
        local_name;  // of the typed pointer that the body uses; empty: it uses the parameter
  };

  void NameParams();
  std::string PointerType(size_t param) const;
  const char* Restrict(size_t param) const;  // what stands behind it
  std::string Signature() const;

  void PrintStmt(const loop::Stmt& s);
  // The statement as the inside of a block of its own, which the caller has opened.
  void PrintBody(const loop::Stmt& s);
  void PrintFor(const loop::For& node);
  void PrintIf(const loop::If& node);
  void PrintAllocate(const loop::Allocate& node);
  void PrintCall(const loop::Call& node);
  void PrintFail(const loop::Fail& node);
  // What the call returns is handed on as it is.
  void ReturnIfNonZero(const std::string& call);
  void PrintProfileHook(int32_t profile_index, bool begin);
  void PrintUnpackedCall(const FuncInfo& callee, const std::vector<loop::Argument>& args);
  void PrintPackedCall(const FuncInfo& callee, const std::vector<loop::Argument>& args);
  // Asks the runtime for the address of a function.
  void PrintLookup(const std::string& function);
  void PrintPrefetch(const loop::Prefetch& node);
  // False where the store is none of a tile that has a loop.
  bool PrintDotTile(const loop::DotTile& tile);
  // A tile whose columns lie in runs, of the instruction `row` if it is not null: in registers that hold
  // matrices, and in loops where there are none or a compiler does not know them.
  void PrintMatrices(const loop::DotTile& tile, const DotInstruction* row);
  // What stands before and behind the body of a function that uses such registers.
  std::string BeforeMatrices();
  std::string BehindMatrices() const;
  // False where the store is none of a vector of sums.
  bool PrintDotVector(const loop::Store& store);
  // How many of these statements, from the first on, are stores of vectors, which it prints: by
  // intrinsics, and as loops for compilers that do not know them.
  size_t PrintVectorStores(absl::Span<const loop::Stmt> stmts);
  void PrintLaunch(const loop::Launch& node);
  // The address that the argument means, for a parameter of `dtype`.
  std::string Address(const loop::Argument& arg, DType dtype, bool written);
  void Fail(const std::string& message);

  // For tasks: the closure and the function that the runtime calls.
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

// The packed function around `info.body_name`: checks and unpacks the arguments, and takes the
// workspace.
std::string PackedWrapper(CContext& context, const FuncInfo& info);
// "TVMValue* args, int* type_codes, …".
extern const char kPackedParameters[];
// Definitions of kiln_fail, kiln_check, kiln_check_workspace and kiln_argument, those that are
// used.
std::string PackedHelpers(CContext& context);
// "{1, 3}"; "{0}" for rank 0.
std::string ShapeInitializer(const Shape& shape);
// "2, 32": the code and bits of the DLDataType.
std::string DLDataTypeFields(DType dtype);

}  // namespace kiln::codegen

#endif  // KILN_COMPILER_CODEGEN_C_FUNCTION_PRINTER_H_
