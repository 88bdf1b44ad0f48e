/* SPDX-License-Identifier: Apache-2.0
 *
 * From reset to main. The entry point of each architecture (start_cortex_m.c, start_riscv.c) sets
 * up the core and the stack, and goes on here.
 */
#ifndef KILN_RUNTIME_CRT_PLATFORM_BARE_METAL_START_H_
#define KILN_RUNTIME_CRT_PLATFORM_BARE_METAL_START_H_

#include <stdint.h>

/* Exit status of a program that a fault has ended, to which the number of the fault is added: the
 * exception's on Arm (3 hard, 4 memory, 5 bus, 6 usage), mcause on RISC-V. */
#define STATUS_FAULT 200

/* Where the machine starts, by image.ld. */
void Start(void) __attribute__((noreturn));

/* Fills data, bss and the unused stack, calls the constructors of C++ and main, and ends with its
 * status. Nothing is destroyed. */
void RunProgram(void) __attribute__((noreturn));

/* Says what happened at the instruction `pc`, and ends. */
void EndByFault(uint32_t number, uint32_t pc, uint32_t cause, uint32_t address)
    __attribute__((noreturn));

#endif /* KILN_RUNTIME_CRT_PLATFORM_BARE_METAL_START_H_ */
