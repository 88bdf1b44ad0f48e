/* SPDX-License-Identifier: Apache-2.0
 *
 * The call of the debugger or emulator that the functions of semihosting.h and semihosting_files.h
 * use.
 */
#ifndef KILN_RUNTIME_CRT_PLATFORM_BARE_METAL_SEMIHOSTING_CALL_H_
#define KILN_RUNTIME_CRT_PLATFORM_BARE_METAL_SEMIHOSTING_CALL_H_

#include <stdint.h>

/*
 * Performs a semihosting operation and returns its result. Operations and their numbers are those
 * of Arm's "Semihosting for AArch32 and AArch64".
 */
uint32_t SemihostingCall(uint32_t operation, const volatile void* argument);

#endif /* KILN_RUNTIME_CRT_PLATFORM_BARE_METAL_SEMIHOSTING_CALL_H_ */
