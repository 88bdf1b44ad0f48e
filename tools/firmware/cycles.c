// SPDX-License-Identifier: Apache-2.0
#include "tools/firmware/cycles.h"

#include <stddef.h>
#include <string.h>

// Sources: for the M0+ the Cortex-M0+ Technical Reference Manual (DDI 0484), table 3-1, with the
// fast multiplier; for the M3 the manual of the Cortex-M3 (DDI 0337), table 3-1; for the M4 the
// manual of the Cortex-M4 (DDI 0439), tables 3-1 and 7-1. Ranges in these manuals: SMULL of the M3
// 3 to 5, SMLAL 4 to 7, SDIV 2 to 12, a refill of the pipeline 1 to 3.
//
// Arm has not published tables for the other cores:
//   M7   a bound: one instruction per cycle, two registers per cycle, branches predicted
//   M33  like the M4, but with multiply-accumulate in one cycle
//   M55  like the M7 without prediction; two of the four beats of a vector per cycle, with the
//        overlap that the Armv8-M Architecture Reference Manual (DDI 0553) describes
enum { kM0Plus, kM3, kM4, kM7, kM33, kM55, kNumCores };

static const char* const kNames[kNumCores + 1] = {
    "cortex-m0plus", "cortex-m3", "cortex-m4", "cortex-m7", "cortex-m33", "cortex-m55", NULL};

// Cycles of an instruction, without the share that depends on its count. 0 if a core lacks the
// instruction.
static const int kCycles[kNumThumbKinds][kNumCores] = {
    // M0+, M3, M4, M7, M33, M55
    [kThumbSimple] = {1, 1, 1, 1, 1, 1},
    [kThumbMultiply] = {1, 1, 1, 1, 1, 1},
    [kThumbMultiplyAdd] = {0, 2, 2, 1, 1, 1},
    [kThumbMultiplyLong] = {0, 4, 1, 1, 1, 1},
    [kThumbMultiplyAddLong] = {0, 5, 1, 1, 1, 1},
    [kThumbDivide] = {0, 7, 7, 7, 7, 7},
    [kThumbLoad] = {2, 2, 2, 1, 2, 1},
    [kThumbStore] = {2, 1, 1, 1, 1, 1},
    [kThumbStoreIndexed] = {2, 2, 2, 1, 2, 1},
    [kThumbLoadMultiple] = {1, 1, 1, 0, 1, 0},
    [kThumbStoreMultiple] = {1, 1, 1, 0, 1, 0},
    [kThumbBranch] = {1, 1, 1, 1, 1, 1},
    [kThumbCall] = {2, 1, 1, 1, 1, 1},
    [kThumbTableBranch] = {0, 2, 2, 2, 2, 2},
    [kThumbLoopEnd] = {0, 0, 0, 0, 0, 0},  // The M55 keeps the loop in a cache.
    [kThumbFloatAdd] = {0, 0, 1, 1, 1, 1},
    [kThumbFloatMultiplyAdd] = {0, 0, 3, 1, 3, 1},
    [kThumbFloatDivide] = {0, 0, 14, 14, 14, 14},
    [kThumbFloatMovePair] = {0, 0, 2, 2, 2, 2},
    [kThumbVector] = {0, 0, 0, 0, 0, 2},
    [kThumbVectorMemory] = {0, 0, 0, 0, 0, 2},
    [kThumbVectorGather] = {0, 0, 0, 0, 0, 0},
};

struct CoreCycles {
  int column;                     // of kCycles
  int registers_per_cycle;        // that an access to several moves
  int pipelines_loads;            // True if an access after a load takes one cycle less.
  int refill, refill_after_load;  // of a taken branch, and of a jump to a loaded address
};

static const struct CoreCycles kCores[kNumCores] = {
    {kM0Plus, 1, 0, 1, 2}, {kM3, 1, 1, 2, 2},  {kM4, 1, 1, 2, 2},
    {kM7, 2, 0, 0, 0},     {kM33, 1, 1, 2, 2}, {kM55, 2, 0, 2, 2},
};

const struct CoreCycles* CyclesOfCore(const char* name) {
  int i;
  for (i = 0; i < kNumCores; ++i) {
    if (strcmp(kNames[i], name) == 0) return &kCores[i];
  }
  return NULL;
}

const char* const* CoresWithCycles(void) { return kNames; }

static int UsesAsAddress(const struct ThumbInstruction* instruction, int reg) {
  return reg != kThumbNoRegister &&
         (instruction->address_of[0] == reg || instruction->address_of[1] == reg);
}

// True if the address of the access is computed while the previous load receives its data.
static int IsPipelined(const struct ThumbInstruction* previous,
                       const struct ThumbInstruction* instruction) {
  return previous->kind == kThumbLoad &&
         (instruction->kind == kThumbLoad || instruction->kind == kThumbStoreIndexed) &&
         !UsesAsAddress(instruction, previous->target);
}

// True if two beats of the vector overlap with the last two of the previous vector.
static int Overlaps(const struct ThumbInstruction* previous,
                    const struct ThumbInstruction* instruction) {
  return (previous->kind == kThumbVector && instruction->kind == kThumbVectorMemory) ||
         (previous->kind == kThumbVectorMemory && instruction->kind == kThumbVector);
}

int CyclesOf(const struct CoreCycles* core, const struct ThumbInstruction* previous,
             const struct ThumbInstruction* instruction) {
  const int cycles = kCycles[instruction->kind][core->column];
  switch (instruction->kind) {
    case kThumbLoadMultiple:
    case kThumbStoreMultiple:
      return cycles +
             (instruction->count + core->registers_per_cycle - 1) / core->registers_per_cycle;
    case kThumbVectorGather:
      return cycles + instruction->count;
    case kThumbLoad:
    case kThumbStoreIndexed:
      return cycles -
             (core->pipelines_loads && previous != NULL && IsPipelined(previous, instruction));
    default:
      return cycles - (previous != NULL && Overlaps(previous, instruction));
  }
}

int RefillCycles(const struct CoreCycles* core, const struct ThumbInstruction* last) {
  if (last->kind == kThumbLoopEnd) return 0;
  return last->loads_pc ? core->refill_after_load : core->refill;
}
