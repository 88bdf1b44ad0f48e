/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime_crt/platform/bare_metal/semihosting.h"

#include "runtime_crt/platform/bare_metal/semihosting_call.h"

#define SYS_WRITE0 0x04u
#define SYS_EXIT_EXTENDED 0x20u
#define ADP_STOPPED_APPLICATION_EXIT 0x20026u

uint32_t SemihostingCall(uint32_t operation, const volatile void* argument) {
#if defined(__arm__)
  register uint32_t r0 __asm__("r0") = operation;
  register const volatile void* r1 __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
#elif defined(__riscv)
  register uint32_t a0 __asm__("a0") = operation;
  register const volatile void* a1 __asm__("a1") = argument;
  /* The call is this sequence of three uncompressed instructions on one page. */
  __asm__ volatile(
      ".option push\n"
      ".option norvc\n"
      ".balign 16\n"
      "slli x0, x0, 0x1f\n"
      "ebreak\n"
      "srai x0, x0, 7\n"
      ".option pop\n"
      : "+r"(a0)
      : "r"(a1)
      : "memory");
  return a0;
#else
#error "semihosting is for Arm and RISC-V"
#endif
}

void SemihostingWrite(const char* text) { SemihostingCall(SYS_WRITE0, text); }

void SemihostingWriteHex(uint32_t value) {
  char text[11] = "0x";
  int i;
  for (i = 9; i >= 2; --i, value >>= 4) text[i] = "0123456789abcdef"[value & 15u];
  text[10] = '\0';
  SemihostingWrite(text);
}

void SemihostingExit(int status) {
  const volatile uint32_t argument[2] = {ADP_STOPPED_APPLICATION_EXIT, (uint32_t)status};
  for (;;) SemihostingCall(SYS_EXIT_EXTENDED, argument);
}
