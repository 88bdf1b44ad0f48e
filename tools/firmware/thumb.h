// SPDX-License-Identifier: Apache-2.0
//
// Kinds of Thumb instructions, as far as durations depend on them: Armv6-M, Armv7E-M, and Armv8.1-M
// with the floating-point extension and Helium. Capstone 4, which Debian and its QEMU have, does
// not know Armv8.1-M: it decodes half of a model's instructions for a Cortex-M55 wrongly or not at
// all.
#ifndef KILN_TOOLS_FIRMWARE_THUMB_H_
#define KILN_TOOLS_FIRMWARE_THUMB_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ThumbKind {
  kThumbSimple,  // arithmetic, moves, hints
  kThumbMultiply,
  kThumbMultiplyAdd,      // MLA, MLS
  kThumbMultiplyLong,     // to 64 bits
  kThumbMultiplyAddLong,  // to 64 bits
  kThumbDivide,
  kThumbLoad,
  kThumbStore,
  kThumbStoreIndexed,   // to the sum of two registers
  kThumbLoadMultiple,   // 32-bit registers: LDM, LDRD, POP, VLDM
  kThumbStoreMultiple,  // STM, STRD, PUSH, VSTM
  kThumbBranch,
  kThumbCall,         // BL
  kThumbTableBranch,  // TBB, TBH
  kThumbLoopEnd,      // LE, LETP
  kThumbFloatAdd,     // additions, products, comparisons, conversions, moves
  kThumbFloatMultiplyAdd,
  kThumbFloatDivide,    // quotients and square roots
  kThumbFloatMovePair,  // two registers at once
  kThumbVector,         // arithmetic of Helium
  kThumbVectorMemory,   // 128 contiguous bits
  kThumbVectorGather,   // elements at separate addresses
  kNumThumbKinds,
};

// Values for registers: none, and the program counter.
enum { kThumbNoRegister = -1, kThumbPc = 15 };

struct ThumbInstruction {
  enum ThumbKind kind;
  int count;          // registers of ...Multiple; accesses of a gather; otherwise 1
  int loads_pc;       // true if it jumps to an address that it loads
  int target;         // the register that a kThumbLoad writes; otherwise kThumbNoRegister
  int address_of[2];  // registers that form the address of a load or store, or kThumbNoRegister
};

// Decodes an instruction. `second` is read only if `first` begins a 32-bit instruction.
struct ThumbInstruction DecodeThumb(uint16_t first, uint16_t second);

#ifdef __cplusplus
}
#endif

#endif  // KILN_TOOLS_FIRMWARE_THUMB_H_
