// SPDX-License-Identifier: Apache-2.0
// The small static functions of a generated file: operations of the loop IR that C's operators do
// not give with the right meaning. Only those that were asked for are printed.
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

// The words before a function of a CPU variant, by Func::cpu_variant: "KILN_CPU_VARIANT_1 "; nothing for a
// function of none.
std::string CpuVariantPrefix(int variant);

// The definition of a function of this name, where no generated file has defined it before: several
// models may be files of one translation unit. Functions of one name do the same, whichever
// file defines them.
std::string OncePerUnit(absl::string_view name, absl::string_view definition);

class Helpers {
 public:
  explicit Helpers(bool libm) : libm_(libm) {}

  // Functions that are asked for from now on are called by code of a CPU variant, by Func::cpu_variant,
  // for that target. A compiler knows instructions of a variant by an attribute alone, so that each
  // variant has functions with instructions of its own.
  void SetVariant(int variant, const Target& target) {
    variant_ = variant;
    variant_target_ = &target;
  }

  // Names of functions that do the operation on scalars of `dtype`.
  std::string Unary(loop::UnaryOp op, DType dtype);  // kAbs, and kSqrt … kRoundEven of floats
  std::string Binary(loop::BinaryOp op,
                     DType dtype);  // kMin, kMax; kDiv and kMod of integers, rounding
  std::string SaturatingCast(DType from, DType to);  // float to integer
  // int32, shifted right, to the values of a narrower type.
  std::string Saturate(DType to, int shift);
  std::string StoredFloatCast(DType from, DType to);  // between float32 and float16 or bfloat16
  std::string Bitcast(DType from, DType to);          // between float and integer of the same width
  std::string Fma(DType dtype);
  // Takes a sum and pointers to the groups. Where the compiler does not know the instruction, the
  // function computes the same by plain C.
  std::string Dot(const DotInstruction& row);
  // Takes the addresses of the sums and of the first elements of rows and columns of such a tile;
  // with `takes_end` also the end of its columns, so that tiles of other numbers of steps may take
  // the same function; with `takes_row` also how many elements the rows of a dot lie behind those of the
  // dot before, so that tiles of longer rows may.
  std::string DotTile(const DotInstruction& row, const DotLoop& loop, const loop::DotTile& tile,
                      bool takes_end, bool takes_row);

  // Takes the addresses of the sums of a tile of registers that hold matrices, and of the first
  // elements of rows and columns, and the number of steps. Defined where the compiler knows the
  // instruction.
  std::string Matrices(const DotInstruction& row, const loop::DotShape& shape);
  // Asks Linux for these registers; returns what is not 0 where it refuses them. Defined on Linux.
  std::string RequestMatrices();
  // Readies these registers; returns what is not 0 where the system refuses them. Defined where the
  // compiler knows any of them.
  std::string UseMatrices();

  // Of float32: a subnormal as 0 of its sign; and a sum and a product of two bfloat16, as a dot adds it.
  std::string Flush();
  std::string BFloatProduct();
  // Takes the addresses of a vector of sums and of the factors' first elements, or numbers.
  std::string Dot(const DotVector& dot);
  // Defines the function, if it is one, where the compiler knows Helium.
  void Helium(const HeliumFunction& function);

  // A preprocessor condition: the compiler knows the instruction of a form; and some of AMX.
  std::string Guard(const DotForm& form) const;
  std::string MatrixGuard() const;

  bool uses_math_h() const { return uses_math_h_; }
  // True if a definition tests for builtins of the compiler. kHasBuiltin stands above it then.
  bool uses_has_builtin() const { return uses_has_builtin_; }
  // Whether Fma was called.
  bool uses_fma() const { return uses_fma_; }
  // True if a tile of dots is a statement of assembly, which takes nearly all registers of the core.
  bool uses_tile_assembly() const { return uses_tile_assembly_; }
  // Definitions of all functions asked for, callees first.
  const std::string& definitions() const { return definitions_; }

 private:
  // Adds `text` unless a function of that name is there.
  std::string Define(const std::string& name, const std::string& text);
  // The name of a function with instructions of the variant.
  std::string InVariant(const std::string& name) const;
  std::string WithoutLibm(loop::UnaryOp op, DType dtype, const std::string& name);

  const bool libm_;
  int variant_ = -1;
  const Target* variant_target_ = nullptr;  // where there is a variant
  bool uses_math_h_ = false;
  bool uses_fma_ = false;
  bool uses_has_builtin_ = false;
  bool uses_tile_assembly_ = false;
  absl::flat_hash_set<std::string> defined_;
  std::string definitions_;
};

// Definition of KILN_HAS_BUILTIN(name): 1 if the compiler has the builtin function.
extern const char kHasBuiltin[];
// Definition of kiln_fma_f32 or kiln_fma_f64: one instruction if the compiler's flags name a machine
// that has it, by gcc and by clang with -fmath-errno, too.
std::string FmaDefinition(DType dtype);
// Definition of kiln_sqrt_f32 or kiln_sqrt_f64 by math.h, or by a builtin that never sets errno.
std::string LibmSqrtDefinition(DType dtype);

// Definitions of kiln_abs_f32, kiln_sqrt_f64 and so on by integer arithmetic. They call the
// bitcasts of both directions, and floor and ceil call trunc.
std::string SoftUnaryDefinition(loop::UnaryOp op, DType dtype);

}  // namespace kiln::codegen

#endif  // KILN_COMPILER_CODEGEN_C_HELPERS_H_
