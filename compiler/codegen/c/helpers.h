// SPDX-License-Identifier: Apache-2.0
// The small static functions of a generated file: operations of the loop IR that have no equivalent
// operator in C. Only the requested functions are printed.
//
//   Helpers helpers(/*libm=*/true);
//   helpers.Binary(BinaryOp::kMin, DType::Float(32));   // "kiln_min_f32"
//   helpers.Unary(UnaryOp::kFloor, DType::Float(32));   // "floorf"; now uses_math_h() is true
#ifndef KILN_COMPILER_CODEGEN_C_HELPERS_H_
#define KILN_COMPILER_CODEGEN_C_HELPERS_H_

#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "compiler/codegen/c/dot_vector.h"
#include "compiler/codegen/c/helium.h"
#include "compiler/loop/dot_tile.h"
#include "compiler/loop/expr.h"
#include "compiler/target/instructions.h"

namespace kiln::codegen {

// The words before a function for a CPU variant, by Func::target: "KILN_CPU_VARIANT_1 " for target
// 2; empty for target 0.
std::string CpuVariantPrefix(int target);

// Returns the definition of a function, which is skipped if another generated file has already
// defined it. Files of several models may be one translation unit. All files define functions of
// the same name equally.
std::string OncePerUnit(absl::string_view name, absl::string_view definition);

class Helpers {
 public:
  explicit Helpers(bool libm) : libm_(libm) {}

  // Functions that are requested from now on are called by code for `target`, as Func::target,
  // which is `machine`. A C compiler knows the instructions of a CPU variant by an attribute only,
  // so that each variant has functions with instructions of its own.
  void SetTarget(int target, const Target& machine) {
    target_ = target;
    machine_ = &machine;
  }

  // Names of functions that apply the operation to scalars of `dtype`.
  std::string Unary(loop::UnaryOp op, DType dtype);    // kAbs; for floats kSqrt … kRoundEven
  std::string Binary(loop::BinaryOp op, DType dtype);  // kMin, kMax, rounding; integer kDiv, kMod
  std::string SaturatingCast(DType from, DType to);    // float to integer
  // Shifts an int32 right and saturates it to the range of a narrower type.
  std::string Saturate(DType to, int shift);
  std::string StoredFloatCast(DType from, DType to);  // between float32 and float16 or bfloat16
  std::string Bitcast(DType from, DType to);          // between float and integer of the same width
  std::string Fma(DType dtype);
  // Takes a sum and pointers to the groups. If the compiler lacks the instruction, the function
  // computes the same in plain C.
  std::string Dot(const DotInstruction& row);
  // Takes the addresses of the sums and of the first elements of rows and columns of such a tile.
  // `takes_end` adds the end of its columns, so that tiles with different numbers of steps can
  // share the function. `takes_row` adds the number of elements between the rows of one dot and
  // those of the next, so that tiles with different row lengths can share it.
  std::string DotTile(const DotInstruction& row, const DotLoop& loop, const loop::DotTile& tile,
                      bool takes_end, bool takes_row);

  // Takes the addresses of the sums of a tile in matrix registers and of the first elements of rows
  // and columns, and the number of steps. Only defined if the compiler has the instruction.
  std::string Matrices(const DotInstruction& row, const loop::DotShape& shape);
  // Requests the matrix registers from Linux. Returns nonzero if Linux refuses them. Only defined
  // on Linux.
  std::string RequestMatrices();
  // Prepares the matrix registers. Returns nonzero if the system refuses them. Only defined if the
  // compiler has AMX.
  std::string UseMatrices();

  // Flush replaces a subnormal float32 by 0 of its sign. BFloatProduct adds a product of two
  // bfloat16 to a float32 sum like a dot does.
  std::string Flush();
  std::string BFloatProduct();
  // Takes the address of a vector of sums, and the factors' first addresses or numbers.
  std::string Dot(const DotVector& dot);
  // Defines the function, if it has a name, for compilers with Helium's intrinsics.
  void Helium(const HeliumFunction& function);

  // Preprocessor conditions: the compiler has the instruction of a form; the compiler has AMX.
  std::string Guard(const DotForm& form) const;
  std::string MatrixGuard() const;

  bool uses_math_h() const { return uses_math_h_; }
  // True if a definition tests for builtins of the compiler. kHasBuiltin must precede it.
  bool uses_has_builtin() const { return uses_has_builtin_; }
  // True if Fma was called.
  bool uses_fma() const { return uses_fma_; }
  // True if a tile of dots is assembly, which takes nearly all registers of the core.
  bool uses_tile_assembly() const { return uses_tile_assembly_; }
  // Definitions of all requested functions, callees first.
  const std::string& definitions() const { return definitions_; }

 private:
  // Adds `text` unless a function with this name exists. Returns the name.
  std::string Define(const std::string& name, const std::string& text);
  // The name of a function that uses instructions of the variant.
  std::string InVariant(const std::string& name) const;
  std::string WithoutLibm(loop::UnaryOp op, DType dtype, const std::string& name);

  const bool libm_;
  int target_ = 0;
  const Target* machine_ = nullptr;
  bool uses_math_h_ = false;
  bool uses_fma_ = false;
  bool uses_has_builtin_ = false;
  bool uses_tile_assembly_ = false;
  absl::flat_hash_set<std::string> defined_;
  std::string definitions_;
};

// Definition of KILN_HAS_BUILTIN(name): 1 if the compiler has the builtin function.
extern const char kHasBuiltin[];
// Definition of kiln_fma_f32 or kiln_fma_f64. It is one instruction if the compiler's flags enable
// it, also with gcc and clang under -fmath-errno.
std::string FmaDefinition(DType dtype);
// Definition of kiln_sqrt_f32 or kiln_sqrt_f64, by math.h or a builtin that never sets errno.
std::string LibmSqrtDefinition(DType dtype);

// Definitions of kiln_abs_f32, kiln_sqrt_f64 and so on by integer arithmetic. They call the
// bitcasts in both directions; floor and ceil call trunc.
std::string SoftUnaryDefinition(loop::UnaryOp op, DType dtype);

}  // namespace kiln::codegen

#endif  // KILN_COMPILER_CODEGEN_C_HELPERS_H_
