// SPDX-License-Identifier: Apache-2.0
//
// An inference with known cycles on every Cortex-M core: 62 instructions, including the branch to
// EndInference. cycles_test.py has the sums.
#include <stdint.h>

void BeginInference(void);
void EndInference(void);
void Loop(uint32_t words[2]);  // calls both functions

__attribute__((noinline)) void BeginInference(void) { __asm__ volatile(""); }
__attribute__((noinline)) void EndInference(void) { __asm__ volatile(""); }

__asm__(
    ".syntax unified\n"
    ".thumb_func\n"
    ".type Loop, %function\n"
    "Loop:\n"
    "  push {r4, lr}\n"
    "  mov r4, r0\n"
    "  bl BeginInference\n"
    "  movs r0, #10\n"
    "1:\n"
    "  ldr r1, [r4]\n"
    "  ldr r2, [r4, #4]\n"
    "  muls r1, r2, r1\n"
    "  str r1, [r4]\n"
    "  subs r0, #1\n"
    "  bne 1b\n"
    "  bl EndInference\n"
    "  pop {r4, pc}\n");

int main(void) {
  uint32_t words[2] = {1, 3};
  Loop(words);
  return words[0] != 59049;  // 3 to the 10th
}
