// SPDX-License-Identifier: Apache-2.0
// Target: the machine that generated code runs on, with the facts that schedules and code
// generators depend on.
//
//   KILN_ASSIGN_OR_RETURN(Target target, Target::Parse("x86-64-v3"));
//
// A target is written as one of
//   host                                  this machine, with all of its features
//   x86-64, x86-64-v2, x86-64-v3, x86-64-v4
//   aarch64, cortex-m3, cortex-m4f, cortex-m7f, cortex-m55, riscv32imac, … (ListTargets)
//   any LLVM triple, with options: "aarch64-linux-gnu -mcpu=cortex-a72 -mattr=+dotprod"
// A name may be followed by the same options.
#ifndef KILN_COMPILER_TARGET_TARGET_H_
#define KILN_COMPILER_TARGET_TARGET_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/base/dtype.h"
#include "compiler/target/machine.h"

namespace kiln {

// Size of a cache line on all machines with caches that Kiln supports.
inline constexpr int kCacheLineBytes = 64;

struct Target {
  std::string name;            // as the user wrote it
  std::string triple;          // LLVM's: "x86_64-pc-linux-gnu"
  std::string cpu;             // LLVM's -mcpu; may be empty
  std::string features;        // LLVM's feature string: "+avx2,+fma"
  std::string abi;             // LLVM's -target-abi; RISC-V
  bool has_fpu = true;         // instructions compute floats of some width
  bool hard_float_abi = true;  // functions pass floats in registers of the FPU; Arm
  bool has_os = true;          // threads and shared objects; otherwise bare metal

  int pointer_bits = 64;
  int vector_bits = 128;  // bits of one register; 0: no vector unit
  int vector_registers = 16;
  bool has_fma = false;        // fused multiply-add of float32 and of a native float64 in hardware
  bool vector_float = true;    // the vector unit computes floats bit for bit like the scalar unit
  bool by_c_compiler = false;  // the generated code is C: only instructions with a C spelling count
  // Without caches a second read costs as much as the first, and nothing is prefetched.
  bool has_caches = true;
  // Code, constants and tensors share a few hundred kilobytes: code is not unrolled and tensors are
  // not copied only for speed.
  bool short_of_memory = false;
  int64_t stack_bytes = 256 << 10;  // limit for copies of rows in one function
  int64_t l1_bytes = 32 << 10;
  int64_t l2_bytes = 512 << 10;
  int cores = 1;  // cores that a parallel loop may use; 1: loops are serial
  // Tuned numbers of the processor: MachineOf(triple, cpu), and for the host the row of its CPU.
  // Never null.
  const Machine* machine = &kUnknownMachine;

  // Elements of `dtype` in a vector register; 1 if there are no vectors of it.
  int Lanes(DType dtype) const;
  // True if the machine has a feature, by LLVM's name without a sign. The feature is listed in
  // `features`, or follows from `cpu` or from other features. HasFeatures takes a list separated by
  // commas, and is true if the machine has all of them.
  bool HasFeature(absl::string_view feature) const;
  bool HasFeatures(absl::string_view list) const;
  // True if a multiply-add can broadcast one element from memory to all lanes (AVX-512).
  bool broadcasts_operands() const { return vector_bits == 512; }
  // True if a multiply-add can broadcast one lane of a vector register (Neon), so that elements of
  // a row for several steps are loaded together.
  bool broadcasts_lanes() const;
  // True if two instructions convert a vector of bytes in memory to floats (SSE4.1's PMOVSXBD and
  // CVTDQ2PS). False for generated C, which takes more instructions.
  bool widens_bytes() const;
  // True if most instructions reach only eight registers (Armv6-M, Armv8-M Baseline), so that code
  // which is repeated for speed spills to the stack.
  bool has_few_registers() const;
  // True if one instruction computes the upper halves of int32 products, for scalars as well as for
  // vectors. False on x86: its vector instruction multiplies every other lane, to 64 bits.
  bool has_mul_high() const;
  // True if int32 vectors have a multiplication that computes a * b / 2^31 (AArch64's SQRDMULH).
  bool has_doubling_mul_high() const;
  bool is_baremetal() const { return !has_os; }
  // Sets the fields that all bare-metal targets have in common.
  void SetBaremetal();
  // Alignment of tensors and constants in memory: a cache line, or on bare metal a vector.
  int buffer_alignment() const;

  // Parses the forms above. InvalidArgument, with the known names, for any other text.
  static absl::StatusOr<Target> Parse(absl::string_view text);
  static Target Host();
};

// Names of the known targets, in the order of the table.
std::vector<std::string> ListTargets();

}  // namespace kiln

#endif  // KILN_COMPILER_TARGET_TARGET_H_
