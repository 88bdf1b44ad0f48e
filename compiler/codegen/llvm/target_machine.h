// SPDX-License-Identifier: Apache-2.0
// Makes LLVM's TargetMachine for a Target.
#ifndef KILN_COMPILER_CODEGEN_LLVM_TARGET_MACHINE_H_
#define KILN_COMPILER_CODEGEN_LLVM_TARGET_MACHINE_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/codegen/llvm/codegen_llvm.h"
#include "compiler/target/instructions.h"
#include "compiler/target/target.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Triple.h"

namespace kiln::codegen {

// The target's triple, normalized like in LLVM's drivers. Otherwise LLVM would take the last word
// of "thumbv7em-none-eabihf" for an operating system, and would not know the calling convention of
// Arm's run-time helpers.
llvm::Triple TripleOf(const Target& target);

// InvalidArgument if LLVM has no code generator for the triple. Target::Parse has already checked
// the names of processor and features.
absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> MakeTargetMachine(const Target& target,
                                                                       const LlvmOptions& options);

// A row of the table of instructions at one width.
struct DotChoice {
  const DotInstruction* row;
  const DotForm* form;
};

// Operations that the target performs in a few instructions, without a library.
struct MachineTraits {
  bool rounds_float32 = false;  // floor, ceil, trunc, round to even
  bool rounds_float64 = false;
  bool round_even_is_rint = false;  // by rint, in the rounding mode "to nearest even"
  bool sqrt_float32 = false;
  bool sqrt_float64 = false;
  bool fma_float32 = false;
  bool fma_float64 = false;
  bool converts_float16 = false;  // to and from float32
  // Intrinsics that saturate vectors of signed integers to 64-bit vectors of signed or unsigned
  // integers with half of the bits; 0 if there is no instruction.
  llvm::Intrinsic::ID saturating_narrow = 0, saturating_narrow_to_unsigned = 0;
  // Intrinsics that convert 16 or 8 lanes of float32 to bfloat16; 0 if there is no instruction.
  llvm::Intrinsic::ID bfloat_of_16_lanes = 0, bfloat_of_8_lanes = 0;
  // Intrinsic for four lanes of int32, saturating; 0 if there is no instruction.
  llvm::Intrinsic::ID rounding_mul_high = 0;
  // Intrinsic for the upper words of products of four lanes of int32; 0 if there is no instruction.
  // Its third operand is 0: the lanes are signed.
  llvm::Intrinsic::ID rounding_mul_top = 0;
  // An instruction computes the upper word of a product. LLVM selects it only if no factor is a
  // constant.
  bool multiplies_upper_words = false;
  bool permutes_lanes = false;  // any lanes of two int32 vectors, in one instruction
  bool casts_by_lane = false;   // no vector instruction for saturating casts from float to integer
  bool pairs_in_words = false;  // two vectors of int16 are interleaved as halves of int32
  std::vector<DotChoice> dots;  // every supported form of every row
};
MachineTraits TraitsOf(const llvm::TargetMachine& machine);

}  // namespace kiln::codegen

#endif  // KILN_COMPILER_CODEGEN_LLVM_TARGET_MACHINE_H_
