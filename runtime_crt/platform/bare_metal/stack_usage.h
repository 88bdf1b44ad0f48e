/* SPDX-License-Identifier: Apache-2.0
 *
 * How deep the stack has been: what is unused is painted with a pattern, and counted later.
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

/* Bytes from the top of the stack to the deepest word that was written since; what was next to the
 * caller's frame when it was painted counts as written, some hundred bytes. */
uint32_t StackUsedBytes(void);

/* Bytes from the top of the stack to an address in it: __builtin_frame_address(0). */
uint32_t StackBytesAbove(const void* address);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* KILN_RUNTIME_CRT_PLATFORM_BARE_METAL_STACK_USAGE_H_ */
