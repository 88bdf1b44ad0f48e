/* SPDX-License-Identifier: Apache-2.0
 *
 * Measures the stack usage: paints the unused stack with a pattern, and later counts what is left.
 *
 *   PaintStack();
 *   Work();
 *   if (StackUsedBytes() > 2048) …
 */
#ifndef KILN_RUNTIME_CRT_PLATFORM_BARE_METAL_STACK_USAGE_H_
#define KILN_RUNTIME_CRT_PLATFORM_BARE_METAL_STACK_USAGE_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Paints the stack below the caller's frame. The start-up code does it once. */
void PaintStack(void);

/* Returns the bytes from the top of the stack to the deepest word that was written since
 * PaintStack. Some hundred bytes next to the frame of PaintStack's caller were not painted and
 * count as written. */
uint32_t StackUsedBytes(void);

/* Returns the bytes from the top of the stack to an address in it, for example
 * __builtin_frame_address(0). */
uint32_t StackBytesAbove(const void* address);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* KILN_RUNTIME_CRT_PLATFORM_BARE_METAL_STACK_USAGE_H_ */
