/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime_crt/platform/bare_metal/stack_usage.h"

#include "runtime_crt/platform/bare_metal/image.h"

#define PAINT 0xc0dec0deu

__attribute__((noinline)) void PaintStack(void) {
  volatile uint32_t* word = stack_limit;
  /* This is a leaf function without locals: its frame has only a few registers. */
  const uint32_t* const end = (const uint32_t*)__builtin_frame_address(0) - 16;
  while (word < end) *word++ = PAINT;
}

uint32_t StackUsedBytes(void) {
  const uint32_t* word = stack_limit;
  while (word < stack_top && *word == PAINT) ++word;
  return StackBytesAbove(word);
}

uint32_t StackBytesAbove(const void* address) {
  return (uint32_t)((const char*)stack_top - (const char*)address);
}
