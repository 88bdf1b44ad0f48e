/* SPDX-License-Identifier: Apache-2.0
 *
 * Symbols that image.ld defines. Only their addresses are meaningful.
 */
#ifndef KILN_RUNTIME_CRT_PLATFORM_BARE_METAL_IMAGE_H_
#define KILN_RUNTIME_CRT_PLATFORM_BARE_METAL_IMAGE_H_

#include <stdint.h>

extern uint8_t flash_start[], flash_bytes[]; /* Numbers of the command line. */
extern uint32_t stack_limit[], stack_top[];  /* The stack, which grows down from the top. */
extern uint32_t data_load[], data_start[], data_end[]; /* Initial values in flash; the data. */
extern uint32_t bss_start[], bss_end[];                /* Data that begin with 0. */
extern void (*const constructors_start[])(void);       /* Constructors of C++ objects. */
extern void (*const constructors_end[])(void);
extern uint8_t pool_start[], pool_end[]; /* Unused RAM, the pool of TVMPlatformMemoryAllocate. */

#endif /* KILN_RUNTIME_CRT_PLATFORM_BARE_METAL_IMAGE_H_ */
