// SPDX-License-Identifier: Apache-2.0
// The C code generator: emits a LoopProgram as one file of C99.
//
//   KILN_ASSIGN_OR_RETURN(std::string source, EmitC(program, target, {.module_name = "default"}));
//
// The file has no undefined behavior unless the program has it. It computes the same bits as the
// interpreter (compiler/loop/expr.h) with gcc and clang at every optimization level, for 32 and 64
// bit targets. It compiles without a warning under
// `-std=c99 -Wall -Wextra -pedantic -Wconversion -Wshadow -Wmissing-prototypes`.
//
// Requirements on the program:
// - Indices are flat (FlattenBuffers).
// - The only vectors are dots that are stored to where their sums were loaded (loop/dot_tile.h)
//   and stores that HasSpellingInC accepts.
// - Parallel loops are outlined into tasks. Others become serial.
// Vectorized loops become plain loops, which C compilers vectorize. float16 and bfloat16 become
// uint16_t with their bits: C99 has no such types.
//
// Visible symbols of the object file:
// - exported functions. Unpacked: `int32_t f(void* a, …[, uint8_t* workspace])`. Packed: a
//   TVMBackendPackedCFunc that checks its arguments;
// - exported data and the getters.
// Everything else is static, and omitted if it is unused.
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
  std::string module_name = "default";  // appears in the comment at the top
  // Use math.h for square roots and rounding. If false, the file has its own functions (same bits,
  // slower) and links with nothing. Fused multiply-add then needs a target with the instruction.
  bool libm = true;
  // Call the runtime through exported pointer variables (`__TVMBackendParallelLaunch`…) instead of
  // extern functions. The C++ runtime sets the pointers when it loads the shared object, so that
  // the object links to nothing.
  bool loader_pointers = false;
  // Name of an exported variable in which the runtime stores the handle of the module. Calls by
  // name pass it on. If empty, they pass NULL.
  std::string module_context = {};
  // The machines of Func::target 1 and up; target 0 is `target`. Needs gcc or clang.
  std::vector<Target> cpu_variants = {};
  // True: constants larger than kMaxConstantBytesByElement become string literals with the bytes in
  // little-endian order. If KILN_CONSTANTS_FILE is defined (gcc and clang for ELF), it is the path,
  // as a string, of a file with PackedConstants, which takes hardly any time and memory. False:
  // element by element, which every compiler for every machine accepts, if it has the memory.
  bool packed_constants = true;
  // Prefer small to fast code: tiles of dots share a loop even if their numbers of steps differ.
  bool small_code = false;
  // Further headers: those of the C library and, with a slash in their names, of the runtime.
  std::vector<std::string> headers = {};
};

// True if EmitC prints the dot as its instruction. It supports no other dots (loop::ExpandDots).
bool HasSpellingInC(const loop::Dot& dot);
// True if EmitC prints the store of a vector by Helium's intrinsics. Compilers that lack them get a
// loop with the same bits.
bool HasSpellingInC(const loop::Store& store);

inline constexpr int64_t kMaxConstantBytesByElement = 64 << 10;

// The bytes of all larger constants, concatenated.
std::string PackedConstants(const loop::LoopProgram& program);

// Internal if the program violates the requirements above. InvalidArgument if an option or a public
// name is not supported.
absl::StatusOr<std::string> EmitC(const loop::LoopProgram& program, const Target& target,
                                  const CodegenCOptions& options);

}  // namespace kiln::codegen

#endif  // KILN_COMPILER_CODEGEN_C_CODEGEN_C_H_
