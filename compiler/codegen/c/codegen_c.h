// SPDX-License-Identifier: Apache-2.0
// The C code generator: a LoopProgram as one file of C99.
//
//   KILN_ASSIGN_OR_RETURN(std::string source, EmitC(program, target, {.module_name = "default"}));
//
// The file has no undefined behaviour that the program does not have, and gives the bits of the
// interpreter (compiler/loop/expr.h) with gcc and clang at every optimization level, for 32 and 64
// bit targets. It compiles without a warning under
// `-std=c99 -Wall -Wextra -pedantic -Wconversion -Wshadow -Wmissing-prototypes`.
//
// Program that it takes: flat indices (FlattenBuffers), no vectors but dots that are stored to where
// their sums were loaded (loop/dot_tile.h) and what HasSpellingInC says of other stores, every parallel
// loop outlined into a task (else it becomes serial). Vectorized loops become plain loops; a C compiler
// vectorizes them. float16 and bfloat16 are uint16_t, their bits: C99 has no
// such types.
//
// What is visible in the object file:
// - exported functions. Unpacked: `int32_t f(void* a, …[, uint8_t* workspace])`. Packed: a
//   TVMBackendPackedCFunc that checks its arguments.
// - exported data and the getters.
// Everything else is static, and left out where nothing uses it.
#ifndef KILN_COMPILER_CODEGEN_C_CODEGEN_C_H_
#define KILN_COMPILER_CODEGEN_C_CODEGEN_C_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/loop/loop.h"
#include "compiler/target/target.h"

namespace kiln::codegen {

struct CodegenCOptions {
  std::string module_name = "default";  // for the comment at the top
  // Use math.h for square roots and rounding. Without, the file brings its own functions (same
  // bits, slower) and links with nothing; fused multiply-add then needs a target that has the
  // instruction.
  bool libm = true;
  // Reach the runtime through exported pointer variables (`__TVMBackendParallelLaunch`…), which the
  // C++ runtime fills in when it loads the shared object, instead of by extern functions: the
  // object then links to nothing.
  bool loader_pointers = false;
  // Names an exported variable through which the runtime tells the code which module it is; calls
  // by name hand it on. Without, they hand on NULL.
  std::string module_context = {};
  // By Func::cpu_variant; the target is what the rest of the program is for. Needs gcc or clang.
  std::vector<Target> cpu_variants = {};
  // Constants of more than kMaxConstantBytesByElement as string literals: as many bytes in memory,
  // little-endian. Where KILN_CONSTANTS_FILE is defined, for gcc and clang and ELF, it is the path,
  // as a string, of a file of PackedConstants, which takes hardly any time and memory. Without,
  // element by element, which every compiler for every machine takes, if it has the memory.
  bool packed_constants = true;
  // Code that is small rather than fast: tiles of dots with other numbers of steps share a loop.
  bool small_code = false;
  // Further headers: the C library's, and, with a slash, those of the runtime.
  std::vector<std::string> headers = {};
};

// Whether EmitC prints this dot as its instruction; it takes no other (loop::ExpandDots).
bool HasSpellingInC(const loop::Dot& dot);
// Whether it prints this store of a vector by Helium's intrinsics, beside a loop of the same bits for
// compilers that do not know them.
bool HasSpellingInC(const loop::Store& store);

inline constexpr int64_t kMaxConstantBytesByElement = 64 << 10;

// The bytes of all larger constants, one behind the other.
std::string PackedConstants(const loop::LoopProgram& program);

// Internal if the program is not of the form above; InvalidArgument if an option or a public name
// makes it impossible.
absl::StatusOr<std::string> EmitC(const loop::LoopProgram& program, const Target& target,
                                  const CodegenCOptions& options);

}  // namespace kiln::codegen

#endif  // KILN_COMPILER_CODEGEN_C_CODEGEN_C_H_
