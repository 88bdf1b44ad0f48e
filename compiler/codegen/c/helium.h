// SPDX-License-Identifier: Apache-2.0
// Vectors of integers in C for Helium, by the intrinsics of arm_mve.h.
//
// A vector of 16, 8 or 4 lanes is one register, whose lanes have 8, 16 or 32 bits. A narrower
// integer is sign- or zero-extended to the bits of its lane. A vector of bools is a predicate.
#ifndef KILN_COMPILER_CODEGEN_C_HELIUM_H_
#define KILN_COMPILER_CODEGEN_C_HELIUM_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "compiler/loop/expr.h"
#include "compiler/loop/loop.h"

namespace kiln::codegen {

// A macro of generated files, not 0 if the compiler has the intrinsics.
inline constexpr char kHeliumMacro[] = "KILN_HELIUM";

// A preprocessor condition, true if the compiler has the intrinsics.
absl::string_view HeliumGuard();

// A helper function of a generated file, for an operation that is not exactly one intrinsic.
struct HeliumFunction {
  std::string name;  // empty: none
  std::string definition;
};

// The spelling of a node: `text` with `$0`, `$1` in place of its operands. For a load, `$0` is the
// address of the first element, and there are no operands. For a gather, `$0` is the address of the
// buffer, and `$1` the vector of element offsets.
struct HeliumCall {
  std::string text;
  std::vector<loop::Expr> operands;
  HeliumFunction function = {};  // the helper that `text` calls
};

// Returns nothing if the vector node has no spelling. Its operands are not checked.
std::optional<HeliumCall> HeliumCallOf(const loop::Expr& e);

// A store of neighboring elements. In `text`, `$0` is the address and `$1` is `value`.
struct HeliumStore {
  std::string text;
  loop::Expr value;
  loop::Expr offset;             // offset of the first element
  HeliumFunction function = {};  // the helper that `text` calls
};
// Returns nothing if the store, or a node of its value, has no spelling.
std::optional<HeliumStore> HeliumStoreOf(const loop::Store& store);

// "int32x4_t", or "mve_pred16_t" for bools.
std::string HeliumType(const loop::Type& type);

}  // namespace kiln::codegen

#endif  // KILN_COMPILER_CODEGEN_C_HELIUM_H_
