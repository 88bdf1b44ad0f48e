// SPDX-License-Identifier: Apache-2.0
//
// Estimates the cycles of instructions on a Cortex-M core, with the timings of its manual for
// memory without wait states. A range in the manual counts as its middle. Flash, caches, branch
// prediction and dual issue are not modeled.
#ifndef KILN_TOOLS_FIRMWARE_CYCLES_H_
#define KILN_TOOLS_FIRMWARE_CYCLES_H_

#include "tools/firmware/thumb.h"

#ifdef __cplusplus
extern "C" {
#endif

struct CoreCycles;

// Returns the core with LLVM's name, such as "cortex-m4"; NULL if its timings are not known.
const struct CoreCycles* CyclesOfCore(const char* name);

// Returns the names that CyclesOfCore knows, terminated by NULL.
const char* const* CoresWithCycles(void);

// Returns the cycles of an instruction after `previous`, which is NULL for the first one of a
// block. A branch counts as not taken.
int CyclesOf(const struct CoreCycles* core, const struct ThumbInstruction* previous,
             const struct ThumbInstruction* instruction);

// Returns the cycles to refill the pipeline after the last instruction of a block, if the next
// executed instruction does not follow it.
int RefillCycles(const struct CoreCycles* core, const struct ThumbInstruction* last);

#ifdef __cplusplus
}
#endif

#endif  // KILN_TOOLS_FIRMWARE_CYCLES_H_
