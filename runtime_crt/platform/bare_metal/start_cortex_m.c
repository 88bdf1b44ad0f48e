/* SPDX-License-Identifier: Apache-2.0
 *
 * Vectors, reset and faults of Armv7-M and Armv8-M. Addresses and bits are those of the "System
 * control block" in the architecture's manuals.
 */
#include "runtime_crt/platform/bare_metal/image.h"
#include "runtime_crt/platform/bare_metal/start.h"

#define REGISTER(address) (*(volatile uint32_t*)(address))
#define SHCSR REGISTER(0xe000ed24u)
#define CFSR REGISTER(0xe000ed28u)
#define MMFAR REGISTER(0xe000ed34u)
#define BFAR REGISTER(0xe000ed38u)
#define CPACR REGISTER(0xe000ed88u)
#define MPU_CTRL REGISTER(0xe000ed94u)
#define MPU_RBAR REGISTER(0xe000ed9cu)
#define MPU_RASR REGISTER(0xe000eda0u)

#define SHCSR_MEMORY_BUS_USAGE (7u << 16)
#define CFSR_BFARVALID (1u << 15)
#define CPACR_FLOATING_POINT (0xfu << 20)
#define MPU_CTRL_ENABLE_WITH_DEFAULT_MAP 5u
#define MPU_RBAR_VALID (1u << 4)
#define MPU_RASR_NO_ACCESS_1MB ((19u << 1) | 1u)

/* Called by OnFault with the frame that the core has pushed, or 0 if the stack is of no use. */
__attribute__((used, noreturn)) static void ReportFault(const uint32_t* frame, uint32_t number) {
  const uint32_t cause = CFSR;
  EndByFault(number, frame != 0 ? frame[6] : 0, cause,
             (cause & CFSR_BFARVALID) != 0 ? BFAR : MMFAR);
}

/* The frame lies on the main stack; if that has overflowed, it could not be pushed. */
__attribute__((naked)) static void OnFault(void) {
  __asm__ volatile(
#if __ARM_ARCH >= 8
      "movs r0, #0\n"
      "msr msplim, r0\n"
#endif
      "mov r0, sp\n"
      "ldr r2, =stack_limit\n"
      "cmp r0, r2\n"
      "it lo\n"
      "movlo r0, #0\n"
      "mrs r1, ipsr\n"
      "ldr r2, =stack_top\n"
      "mov sp, r2\n"
      "b ReportFault\n"
      ".ltorg\n");
}

/* A stack that grows too deep leaves RAM at its bottom. Armv8-M has a register for that; before,
 * the megabyte below RAM, which is aligned, is made a region without access. */
static void GuardStack(void) {
#if __ARM_ARCH >= 8
  __asm__ volatile("msr msplim, %0" : : "r"(stack_limit));
#else
  MPU_RBAR = ((uint32_t)(uintptr_t)stack_limit - (1u << 20)) | MPU_RBAR_VALID;
  MPU_RASR = MPU_RASR_NO_ACCESS_1MB;
  MPU_CTRL = MPU_CTRL_ENABLE_WITH_DEFAULT_MAP;
  __asm__ volatile("dsb\nisb" ::: "memory");
#endif
}

__attribute__((noreturn)) void Start(void) {
#if defined(__ARM_FP) || defined(__ARM_FEATURE_MVE)
  CPACR |= CPACR_FLOATING_POINT;
  __asm__ volatile("dsb\nisb" ::: "memory");
#endif
  SHCSR |= SHCSR_MEMORY_BUS_USAGE;
  GuardStack();
  RunProgram();
}

typedef void (*Handler)(void);

union Vector {
  uint32_t* stack;
  Handler handler;
};

/* Every exception of the core ends the program; there are no interrupts. */
__attribute__((section(".vectors"), used)) static const union Vector vectors[] = {
    {.stack = stack_top}, {.handler = Start},   {.handler = OnFault}, {.handler = OnFault},
    {.handler = OnFault}, {.handler = OnFault}, {.handler = OnFault}, {.handler = OnFault},
    {.handler = OnFault}, {.handler = OnFault}, {.handler = OnFault}, {.handler = OnFault},
    {.handler = OnFault}, {.handler = OnFault}, {.handler = OnFault}, {.handler = OnFault},
};
