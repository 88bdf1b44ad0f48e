/* SPDX-License-Identifier: Apache-2.0
 *
 * From reset to main. The entry point of each architecture (start_cortex_m.c, start_riscv.c) sets
 * up the core and the stack, and then calls RunProgram.
 */
#ifndef KILN_RUNTIME_CRT_PLATFORM_BARE_METAL_START_H_
#define KILN_RUNTIME_CRT_PLATFORM_BARE_METAL_START_H_

#include <stdint.h>

/* Exit status of a program that a fault has ended, plus the number of the fault: the exception
 * number on Arm (3 hard, 4 memory, 5 bus, 6 usage), mcause on RISC-V. */
#define STATUS_FAULT 200

/* The entry point of the image (image.ld). */
void Start(void) __attribute__((noreturn));

/* Initializes data and bss, paints the unused stack, calls the C++ constructors and main, and exits
 * with the result of main. No destructor is called. */
void RunProgram(void) __attribute__((noreturn));

/* Reports a fault at the instruction `pc` and ends the program. */
void EndByFault(uint32_t number, uint32_t pc, uint32_t cause, uint32_t address)
    __attribute__((noreturn));

#endif /* KILN_RUNTIME_CRT_PLATFORM_BARE_METAL_START_H_ */
