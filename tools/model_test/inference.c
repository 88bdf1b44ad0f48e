// SPDX-License-Identifier: Apache-2.0
//
// Functions of one instruction, which a counter of instructions knows by their symbols.
#include "tools/model_test/model_case.h"

__attribute__((noinline)) void BeginInference(void) { __asm__ volatile(""); }
__attribute__((noinline)) void EndInference(void) { __asm__ volatile(""); }
