// SPDX-License-Identifier: Apache-2.0
//
// What kind of instruction a Thumb encoding is, as far as its duration depends on it: Armv6-M,
// Armv7E-M, Armv8.1-M with the floating-point extension and Helium.
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
  kThumbLoadMultiple,   // registers of 32 bits: LDM, LDRD, POP, VLDM
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
  kThumbVectorGather,   // elements at addresses of their own
  kNumThumbKinds,
};

// No register of the core.
enum { kThumbNoRegister = -1, kThumbPc = 15 };

struct ThumbInstruction {
  enum ThumbKind kind;
  int count;          // registers of ...Multiple; accesses of a gather; otherwise 1
  int loads_pc;       // whether it is a jump to an address that it loads
  int target;         // the register that a kThumbLoad writes; otherwise kThumbNoRegister
  int address_of[2];  // registers that make the address of a load or store, or kThumbNoRegister
};

// `second` is read only where `first` begins an instruction of 32 bits.
struct ThumbInstruction DecodeThumb(uint16_t first, uint16_t second);

#ifdef __cplusplus
}
#endif

#endif  // KILN_TOOLS_FIRMWARE_THUMB_H_
