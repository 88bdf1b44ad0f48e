// SPDX-License-Identifier: Apache-2.0
// State that all parts of the C code generator share while they print one file.
#ifndef KILN_COMPILER_CODEGEN_C_CONTEXT_H_
#define KILN_COMPILER_CODEGEN_C_CONTEXT_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "compiler/codegen/c/codegen_c.h"
#include "compiler/codegen/c/helpers.h"
#include "compiler/codegen/c/names.h"
#include "compiler/loop/loop.h"

namespace kiln::codegen {

// Writes lines of text with indentation.
class LineWriter {
 public:
  explicit LineWriter(int depth = 0) : depth_(depth) {}
  void Line(absl::string_view text) {
    text_.append(2 * static_cast<size_t>(depth_), ' ')
        .append(text.data(), text.size())
        .push_back('\n');
  }
  // Writes a preprocessor directive, which is not indented.
  void Directive(absl::string_view text) { absl::StrAppend(&text_, text, "\n"); }
  void Blank() { text_.push_back('\n'); }
  void Else() {
    --depth_;
    Open("} else {");
  }
  // Writes a line ending in '{' and increases the indentation; Close ends the block.
  void Open(absl::string_view text) {
    Line(text);
    ++depth_;
  }
  void Close(absl::string_view text = "}") {
    --depth_;
    Line(text);
  }
  const std::string& text() const { return text_; }

 private:
  int depth_;
  std::string text_;
};

// Properties of a function that printers depend on.
struct FuncInfo {
  const loop::Func* func = nullptr;
  std::vector<bool> written;  // per parameter: the function or one of its callees stores to it
  // Two of its arguments may overlap (Func::in_place, or a call with overlapping arguments). Its
  // pointers are then not `restrict`, except for parameters that only get constants.
  bool overlaps = false;
  std::vector<bool> takes_memory;  // per parameter: it may get memory other than a constant
  // The parameters are void*, because other object files may call the function.
  bool untyped = false;
  // Reachable from an exported symbol.
  bool used = false;
  // Name of the function that does the work. A packed function calls it after unpacking; otherwise
  // it is the function itself.
  std::string body_name;
  // C names of its parameters. They are set when the function is printed, which is before its
  // callers.
  std::vector<std::string> pointer_names, scalar_names;
};

struct CContext {
  CContext(const loop::LoopProgram& program_in, const Target& target_in,
           const CodegenCOptions& options_in)
      : program(program_in),
        target(target_in),
        options(options_in),
        index_bits(target_in.pointer_bits >= 64 ? 64 : 32),
        helpers(options_in.libm) {}

  // Returns the C name of a runtime function, and declares it at the top of the file.
  std::string Runtime(const std::string& function) {
    uses_tvm_headers = true;
    if (!options.loader_pointers) return function;
    loader_pointers.insert(function);
    return "__" + function;
  }
  // True if the program has functions that take tensors, and so needs a runtime of this ABI. Other
  // programs record the text of an error only if they are linked with such a runtime.
  bool HasPackedFunction() const;
  DType IndexDType() const { return DType::Int(index_bits); }
  // The dtype in C of values of `type`.
  DType DTypeOf(const loop::Type& type) const { return type.index ? IndexDType() : type.dtype; }

  const Target& TargetOf(const loop::Func& func) const {
    return func.target == 0 ? target : options.cpu_variants[static_cast<size_t>(func.target) - 1];
  }

  const loop::LoopProgram& program;
  const Target& target;
  const CodegenCOptions& options;
  const int index_bits;
  Helpers helpers;
  Names names;
  std::map<std::string, FuncInfo> funcs;
  absl::flat_hash_map<const loop::BufferNode*, std::string> constant_names;
  absl::flat_hash_map<const loop::BufferNode*, std::string> constants;  // their arrays
  absl::flat_hash_set<const loop::BufferNode*> used_constants;
  std::set<std::string> loader_pointers;
  bool uses_tvm_headers = false;
  std::set<std::string> macros;  // macros of compiler_macros.h in use
  bool uses_lanes = false;       // KILN_LANES
  bool uses_rolled = false;      // KILN_ROLLED
  bool uses_helium = false;      // kHeliumMacro
  bool uses_packed_constants = false;
  bool uses_module_context = false;  // a call by name passes the module's handle
  bool uses_call_tensor = false;     // kiln_tensor, for packed calls
  bool uses_check_tensor = false;    // kiln_check, for packed functions
  bool uses_fail_number = false;     // kiln_fail_number, for loop::Fail
};

// Returns "KILN_ALIGNED(64) " if `alignment_bytes` is more than an element needs, otherwise "". It
// has to precede all other words of a declaration, because some compilers align by a pragma.
std::string AlignmentPrefix(CContext& context, int alignment_bytes, int element_bytes);

}  // namespace kiln::codegen

#endif  // KILN_COMPILER_CODEGEN_C_CONTEXT_H_
