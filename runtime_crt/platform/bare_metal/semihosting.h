/* SPDX-License-Identifier: Apache-2.0
 *
 * Text and an exit status for the debugger or emulator that the machine is connected to, by the
 * semihosting of Arm and RISC-V. If none is connected, a call is a breakpoint and the machine
 * stops.
 *
 *   SemihostingWrite("ready\n");
 *   SemihostingExit(0);
 */
#ifndef KILN_RUNTIME_CRT_PLATFORM_BARE_METAL_SEMIHOSTING_H_
#define KILN_RUNTIME_CRT_PLATFORM_BARE_METAL_SEMIHOSTING_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Writes a NUL-terminated text. */
void SemihostingWrite(const char* text);

/* Writes "0x" and eight hexadecimal digits. */
void SemihostingWriteHex(uint32_t value);

/* Ends the emulator with `status`, 0 to 255. */
void SemihostingExit(int status) __attribute__((noreturn));

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* KILN_RUNTIME_CRT_PLATFORM_BARE_METAL_SEMIHOSTING_H_ */
