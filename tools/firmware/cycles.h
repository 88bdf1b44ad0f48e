// SPDX-License-Identifier: Apache-2.0
//
// An estimate of the cycles that a Cortex-M core takes for instructions: the timings of its
// manual for memory without wait states. What the manual gives as a range counts as its middle.
// Flash, caches, branch prediction and the issue of two instructions at once are not in it.
#ifndef KILN_TOOLS_FIRMWARE_CYCLES_H_
#define KILN_TOOLS_FIRMWARE_CYCLES_H_

#include "tools/firmware/thumb.h"

#ifdef __cplusplus
extern "C" {
#endif

struct CoreCycles;

// The core of LLVM's name, such as "cortex-m4"; NULL if its timings are not known.
const struct CoreCycles* CyclesOfCore(const char* name);

// The names that CyclesOfCore knows, ended by NULL.
const char* const* CoresWithCycles(void);

// Cycles of an instruction after `previous`, which is NULL for the first of a block. A branch is
// counted as one that is not taken.
int CyclesOf(const struct CoreCycles* core, const struct ThumbInstruction* previous,
             const struct ThumbInstruction* instruction);

// What the core takes to fill its pipeline after the last instruction of a block, if the next one
// that is executed does not follow it.
int RefillCycles(const struct CoreCycles* core, const struct ThumbInstruction* last);

#ifdef __cplusplus
}
#endif

#endif  // KILN_TOOLS_FIRMWARE_CYCLES_H_
