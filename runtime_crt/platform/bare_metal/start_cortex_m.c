/* SPDX-License-Identifier: Apache-2.0
 *
 * Vectors, reset and faults of Armv7-M and Armv8-M. Registers and bits are described under "System
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
#define MPU_RNR REGISTER(0xe000ed98u)
#define MPU_RBAR REGISTER(0xe000ed9cu)
#define MPU_RASR REGISTER(0xe000eda0u) /* Armv7-M */
#define MPU_RLAR REGISTER(0xe000eda0u) /* Armv8-M */
#define MPU_MAIR0 REGISTER(0xe000edc0u)

#define SHCSR_MEMORY_BUS_USAGE (7u << 16)
#define CFSR_BFARVALID (1u << 15)
#define CPACR_FLOATING_POINT (0xfu << 20)
#define MPU_CTRL_ENABLE_WITH_DEFAULT_MAP 5u
#define RBAR_VALID (1u << 4)
#define RBAR_READ_ONLY (2u << 1)
#define RASR_READ_ONLY (6u << 24)
#define RASR_NO_ACCESS 0u
#define RASR_NORMAL_MEMORY (1u << 17)
#define RASR_ENABLE 1u
#define RLAR_ENABLE 1u
#define MAIR_NORMAL_MEMORY 0xffu
/* Size of the inaccessible region below RAM. The start of RAM is a multiple of it. */
#define GUARD_BYTES (1u << 20)

/* Called by OnFault. `frame` is the frame that the core pushed, or 0 if the stack is invalid. */
__attribute__((used, noreturn)) static void ReportFault(const uint32_t* frame, uint32_t number) {
  const uint32_t cause = CFSR;
  EndByFault(number, frame != 0 ? frame[6] : 0, cause,
             (cause & CFSR_BFARVALID) != 0 ? BFAR : MMFAR);
}

/* The frame is on the main stack. If that has overflowed, the core could not push the frame. */
__attribute__((naked)) static void OnFault(void) {
  __asm__ volatile(
#if __ARM_ARCH >= 8
      "movs r0, #0\n"
      "msr msplim, r0\n"
#endif
      "mov r0, sp\n"
      "ldr r2, =stack_limit\n"
      "cmp r0, r2\n"
      "bhs 1f\n"
      "movs r0, #0\n"
      "1:\n"
      "mrs r1, ipsr\n"
      "ldr r2, =stack_top\n"
      "mov sp, r2\n"
      "b ReportFault\n"
      ".ltorg\n");
}

/* Turns two errors into faults: writes to flash, which some machines ignore and emulators perform,
 * and a stack overflow, which leaves RAM at its start. */
#if __ARM_ARCH >= 8
static void ProtectMemory(void) {
  const uint32_t start = (uint32_t)(uintptr_t)flash_start;
  __asm__ volatile("msr msplim, %0" : : "r"(stack_limit));
  MPU_MAIR0 = MAIR_NORMAL_MEMORY;
  MPU_RNR = 0;
  MPU_RBAR = start | RBAR_READ_ONLY;
  MPU_RLAR = ((start + (uint32_t)(uintptr_t)flash_bytes - 1) & ~31u) | RLAR_ENABLE;
  MPU_CTRL = MPU_CTRL_ENABLE_WITH_DEFAULT_MAP;
  __asm__ volatile("dsb\nisb" ::: "memory");
}
#else
/* Returns the size field of a region. Its size is a power of two, its start a multiple of it. */
static uint32_t SizeField(uint32_t bytes) {
  uint32_t field = 4;
  while ((2u << field) < bytes) ++field;
  return field << 1;
}

static void ProtectMemory(void) {
  MPU_RBAR = (uint32_t)(uintptr_t)flash_start | RBAR_VALID;
  MPU_RASR = RASR_READ_ONLY | RASR_NORMAL_MEMORY | SizeField((uint32_t)(uintptr_t)flash_bytes) |
             RASR_ENABLE;
  MPU_RBAR = ((uint32_t)(uintptr_t)stack_limit - GUARD_BYTES) | RBAR_VALID | 1u;
  MPU_RASR = RASR_NO_ACCESS | SizeField(GUARD_BYTES) | RASR_ENABLE;
  MPU_CTRL = MPU_CTRL_ENABLE_WITH_DEFAULT_MAP;
  __asm__ volatile("dsb\nisb" ::: "memory");
}
#endif

__attribute__((noreturn)) void Start(void) {
#if defined(__ARM_FP) || defined(__ARM_FEATURE_MVE)
  CPACR |= CPACR_FLOATING_POINT;
  __asm__ volatile("dsb\nisb" ::: "memory");
#endif
  SHCSR |= SHCSR_MEMORY_BUS_USAGE;
  ProtectMemory();
  RunProgram();
}

typedef void (*Handler)(void);

union Vector {
  uint32_t* stack;
  Handler handler;
};

/* Every exception of the core ends the program. There are no interrupts. */
__attribute__((section(".vectors"), used)) static const union Vector vectors[] = {
    {.stack = stack_top}, {.handler = Start},   {.handler = OnFault}, {.handler = OnFault},
    {.handler = OnFault}, {.handler = OnFault}, {.handler = OnFault}, {.handler = OnFault},
    {.handler = OnFault}, {.handler = OnFault}, {.handler = OnFault}, {.handler = OnFault},
    {.handler = OnFault}, {.handler = OnFault}, {.handler = OnFault}, {.handler = OnFault},
};
