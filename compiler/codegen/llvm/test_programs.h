// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of this folder: edge values of every type, and running one program on the
// interpreter and as machine code.
#ifndef KILN_COMPILER_CODEGEN_LLVM_TEST_PROGRAMS_H_
#define KILN_COMPILER_CODEGEN_LLVM_TEST_PROGRAMS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "compiler/base/dtype.h"
#include "compiler/codegen/llvm/jit.h"
#include "compiler/loop/loop.h"
#include "compiler/target/target.h"

namespace kiln::codegen {

// All dtypes except float16 and bfloat16.
std::vector<DType> AllDtypes();

// Bytes of `count` elements. First come edge values (zeros, ones, limits, halves, infinities, NaN,
// subnormals), then random values for a fixed seed.
std::string EdgeValues(DType dtype, int count, uint32_t seed = 1);
// Every pair of the edge values of a type: the bytes of left operands and of right operands,
// `count` elements each.
struct OperandPairs {
  std::string left, right;
  int count;  // a multiple of 16
};
OperandPairs EdgePairs(DType dtype);

loop::Buffer Param(std::string name, DType dtype, Shape shape);

// A program of one unpacked function "f".
loop::LoopProgram OneFunc(std::vector<loop::Buffer> params, int num_inputs, loop::Stmt body);

// Runs the function `name` of `program` in the interpreter and as machine code for `target`, each
// on a copy of `args`, the bytes of every parameter. Expects equal bytes in all parameters
// afterwards; all NaNs of a float type count as equal.
void ExpectSameBits(const loop::LoopProgram& program, const std::string& name,
                    const std::vector<std::string>& args, const Target& target);

// The same for existing machine code.
void ExpectSameBits(const loop::LoopProgram& program, const std::string& name,
                    const std::vector<std::string>& args, const Jit& jit,
                    const std::string& target_name);

// The targets that this machine can run: x86-64 levels and the host.
std::vector<Target> RunnableTargets();

}  // namespace kiln::codegen

#endif  // KILN_COMPILER_CODEGEN_LLVM_TEST_PROGRAMS_H_
