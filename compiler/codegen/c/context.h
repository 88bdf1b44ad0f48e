// SPDX-License-Identifier: Apache-2.0
// What all parts of the C code generator share while they print one file.
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

// Lines of text at a depth of indentation.
class LineWriter {
 public:
  explicit LineWriter(int depth = 0) : depth_(depth) {}
  void Line(absl::string_view text) {
    text_.append(2 * static_cast<size_t>(depth_), ' ')
        .append(text.data(), text.size())
        .push_back('\n');
  }
  // Of the preprocessor: at the beginning of a line.
  void Directive(absl::string_view text) { absl::StrAppend(&text_, text, "\n"); }
  void Blank() { text_.push_back('\n'); }
  void Else() {
    --depth_;
    Open("} else {");
  }
  // A line ending in '{', and its end.
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

// How a function is printed.
struct FuncInfo {
  const loop::Func* func = nullptr;
  std::vector<bool>
      written;  // per parameter: whether the function, or one that it calls, stores to it
  // Two of its arguments may overlap (Func::in_place, or a call that passes such): its pointers are
  // not `restrict`, but for those that only constants are given to.
  bool overlaps = false;
  std::vector<bool> takes_memory;  // per parameter: it may be given other memory than a constant
  // Parameters are void*: functions that other objects may call.
  bool untyped = false;
  // Reachable from something exported.
  bool used = false;
  // The function that does the work: of a packed function, what it calls after unpacking; else the
  // function itself.
  std::string body_name;
  // C names of its parameters; known when the function has been printed, which is before its
  // callers are.
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

  // The C name of a runtime function, which is then declared at the top.
  std::string Runtime(const std::string& function) {
    uses_tvm_headers = true;
    if (!options.loader_pointers) return function;
    loader_pointers.insert(function);
    return "__" + function;
  }
  // Whether the program needs a runtime of this ABI: it has functions that tensors are given to.
  // Others leave the text of an error only where the program that they are linked into has one.
  bool HasPackedFunction() const;
  DType IndexDType() const { return DType::Int(index_bits); }
  // The dtype that values of `type` have in C.
  DType DTypeOf(const loop::Type& type) const { return type.index ? IndexDType() : type.dtype; }

  const Target& TargetOf(const loop::Func& func) const {
    const size_t variant = static_cast<size_t>(func.cpu_variant);
    return func.cpu_variant < 0 ? target : options.cpu_variants[variant];
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
  std::set<std::string> macros;  // of compiler_macros.h, that are used
  bool uses_lanes = false;       // KILN_LANES
  bool uses_rolled = false;      // KILN_ROLLED
  bool uses_helium = false;      // kHeliumMacro
  bool uses_packed_constants = false;
  bool uses_module_context = false;  // a call by name says which module it is from
  bool uses_call_tensor = false;     // kiln_tensor, of packed calls
  bool uses_check_tensor = false;    // kiln_check, of packed functions
  bool uses_fail_number = false;     // kiln_fail_number, of loop::Fail
};

// "KILN_ALIGNED(64) " where `alignment_bytes` is more than an element needs; before all other words of a
// declaration, because some compilers say it by a pragma.
std::string AlignmentPrefix(CContext& context, int alignment_bytes, int element_bytes);

}  // namespace kiln::codegen

#endif  // KILN_COMPILER_CODEGEN_C_CONTEXT_H_
