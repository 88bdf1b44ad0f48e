// SPDX-License-Identifier: Apache-2.0
// Target: the machine that generated code runs on, as far as schedules and code generators need to
// know it.
//
//   KILN_ASSIGN_OR_RETURN(Target target, Target::Parse("x86-64-v3"));
//
// A target is written as one of
//   host                                  this machine, with all it can do
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

namespace kiln {

// Of all machines with caches that Kiln compiles for.
inline constexpr int kCacheLineBytes = 64;

inline constexpr double kBFloatSlotsOfIntel = 4;

struct Target {
  std::string name;            // as it was written
  std::string triple;          // LLVM's: "x86_64-pc-linux-gnu"
  std::string cpu;             // LLVM's -mcpu; may be empty
  std::string features;        // LLVM's feature string: "+avx2,+fma"
  std::string abi;             // LLVM's -target-abi; RISC-V
  bool has_fpu = true;         // floats of some width are computed by instructions
  bool hard_float_abi = true;  // functions pass floats in registers of the FPU; Arm
  bool has_os = true;          // threads and shared objects; otherwise bare metal

  int pointer_bits = 64;
  int vector_bits = 128;  // of one register; 0: no vector unit
  int vector_registers = 16;
  bool has_fma =
      false;  // fused multiply-add of float32 (and, where double is native, float64) in hardware
  bool vector_float = true;    // the vector unit does floats, with the bits of the scalar unit
  bool by_c_compiler = false;  // what is generated is C: only instructions that C can spell count
  // Without caches, what is read again costs what it cost the first time, and nothing is prefetched.
  bool has_caches = true;
  // A few hundred kilobytes hold code, constants and tensors: code is not unrolled for speed alone,
  // and tensors are not copied for it.
  bool short_of_memory = false;
  int64_t stack_bytes = 256 << 10;  // that copies of rows may take in one function
  // Issue slots of a product of bfloat16 (vdpbf16ps), in units of one multiply-add of float32: 1 by the
  // manuals of Zen 4 and Zen 5; measured on Sapphire Rapids, kBFloatSlotsOfIntel.
  double bfloat_slots = 1;
  int64_t l1_bytes = 32 << 10;
  int64_t l2_bytes = 512 << 10;
  int cores = 1;  // that a parallel loop may count on; 1: loops are serial

  // Elements of `dtype` in a vector register; 1 where there are no vectors of it.
  int Lanes(DType dtype) const;
  // Whether the machine has a feature, by LLVM's name without a sign: it is said, or follows from
  // `cpu`. And whether it has all of a list that is separated by commas.
  bool HasFeature(absl::string_view feature) const;
  bool HasFeatures(absl::string_view list) const;
  // Whether a multiply-add takes one element of memory for all lanes as an operand (AVX-512).
  bool broadcasts_operands() const { return vector_bits == 512; }
  // Whether it takes one lane of a vector for all lanes (Neon), so that elements of a row that
  // several steps need are loaded together.
  bool broadcasts_lanes() const;
  // True if a vector of bytes in memory becomes one of floats in two instructions (SSE4.1's PMOVSXBD and
  // CVTDQ2PS). Generated C takes more of them.
  bool widens_bytes() const;
  // Whether most instructions take eight registers alone (Armv6-M), so that code which is repeated
  // for speed keeps numbers on the stack.
  bool has_few_registers() const;
  // Whether one instruction gives the upper halves of products of int32, for vectors as for single
  // numbers. On x86 none does: a vector instruction multiplies every other lane, to 64 bits.
  bool has_mul_high() const;
  // Whether vectors of int32 have a multiplication that gives a * b / 2^31 (AArch64's SQRDMULH).
  bool has_doubling_mul_high() const;
  bool is_baremetal() const { return !has_os; }
  // Sets what holds for all of them.
  void SetBaremetal();
  // What tensors and constants in memory begin at: a cache line, or on bare metal a vector.
  int buffer_alignment() const;

  // InvalidArgument with the known names.
  static absl::StatusOr<Target> Parse(absl::string_view text);
  static Target Host();
};

// Names that Parse knows, in order.
std::vector<std::string> ListTargets();

}  // namespace kiln

#endif  // KILN_COMPILER_TARGET_TARGET_H_
