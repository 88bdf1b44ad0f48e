// SPDX-License-Identifier: Apache-2.0
//
// Causes the fault FAULT. Each fault must end the program with its own status.
#include <stdint.h>

#include "runtime_crt/platform/bare_metal/semihosting.h"

#define STACK_OVERFLOW 1
#define UNDEFINED_INSTRUCTION 2
#define BAD_ADDRESS 3
#define WRITE_TO_FLASH 4
#define EXIT_WITH_7 5
#define NO_END 6
#define USE_OF_PERIPHERAL 7

// Writing to this address is not a fault.
#if defined(__riscv)
#define PERIPHERAL ((volatile uint8_t*)0x10000000u)  // UART
#else
#define PERIPHERAL ((volatile uint32_t*)0xe000e014u)  // SysTick, reload value
#endif

static volatile uint32_t sink;
static const uint32_t constant = 5;

__attribute__((noinline)) static uint32_t Recurse(uint32_t depth) {
  volatile uint32_t frame[64];
  frame[depth % 64] = depth;
  if (depth == 0) return 0;
  return Recurse(depth - 1) + frame[depth % 64];
}

int main(void) {
  switch (FAULT) {
    case STACK_OVERFLOW:
      sink = Recurse(1000);
      break;
    case UNDEFINED_INSTRUCTION:
#if defined(__arm__)
      __asm__ volatile("udf #0");
#else
      __asm__ volatile("unimp");
#endif
      break;
    case BAD_ADDRESS:
      sink = *(volatile uint32_t*)0xfffffff0u;
      break;
    case WRITE_TO_FLASH:
      *(volatile uint32_t*)(uintptr_t)&constant = 6;
      sink = constant;
      break;
    case EXIT_WITH_7:
      return 7;
    case USE_OF_PERIPHERAL:
      *PERIPHERAL = 'x';
      return 8;
    default:
      for (;;) ++sink;
  }
  SemihostingWrite("nothing has happened\n");
  return 0;
}
