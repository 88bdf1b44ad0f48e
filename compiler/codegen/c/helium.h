// SPDX-License-Identifier: Apache-2.0
// Vectors of integers as C says them for Helium: by the intrinsics of arm_mve.h.
//
// A vector of 16, 8 or 4 lanes is one register, whose lanes have 8, 16 or 32 bits. An integer of fewer
// bits is extended, by its sign, to the bits of its lane. A vector of bools is a predicate.
#ifndef KILN_COMPILER_CODEGEN_C_HELIUM_H_
#define KILN_COMPILER_CODEGEN_C_HELIUM_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "compiler/loop/expr.h"
#include "compiler/loop/loop.h"

namespace kiln::codegen {

// A macro of generated files: not 0 where a compiler knows the intrinsics.
inline constexpr char kHeliumMacro[] = "KILN_HELIUM";

// A preprocessor condition: true where a compiler knows the intrinsics.
absl::string_view HeliumGuard();

// A function that a file brings along: more than one intrinsic, or none.
struct HeliumFunction {
  std::string name;  // empty: none
  std::string definition;
};

// How a node is said: `text` with `$0`, `$1` in the places of its operands. Of a load `$0` is the address
// of the first element; there are no operands, or, of a gather, `$1` is the vector of places behind it.
struct HeliumCall {
  std::string text;
  std::vector<loop::Expr> operands;
  HeliumFunction function = {};  // that `text` calls
};

// Nothing if a node of a vector has no spelling. Operands may still have none.
std::optional<HeliumCall> HeliumCallOf(const loop::Expr& e);

// A store of neighbouring elements: of `value`, by `$0`, its address, and `$1`, the value.
struct HeliumStore {
  std::string text;
  loop::Expr value;
  loop::Expr offset;             // of the first element
  HeliumFunction function = {};  // that `text` calls
};
// Nothing if there is no spelling of it, or of any operand.
std::optional<HeliumStore> HeliumStoreOf(const loop::Store& store);

// "int32x4_t", or "mve_pred16_t" of bools.
std::string HeliumType(const loop::Type& type);

}  // namespace kiln::codegen

#endif  // KILN_COMPILER_CODEGEN_C_HELIUM_H_
