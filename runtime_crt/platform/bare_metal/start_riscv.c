/* SPDX-License-Identifier: Apache-2.0
 *
 * Reset and traps of RISC-V in machine mode. Regions of the physical memory protection turn writes
 * to flash and a stack overflow into faults. They are locked so that they hold for machine mode,
 * too.
 */
#include "runtime_crt/platform/bare_metal/image.h"
#include "runtime_crt/platform/bare_metal/start.h"

/* Each byte of pmpcfg0 describes the region from the previous pmpaddr to its own. */
#define PMP_OFF 0u
#define PMP_LOCKED_READ_EXECUTE 0x8du
#define PMP_LOCKED_NO_ACCESS 0x88u
/* Size of the inaccessible region below the stack. If it overlaps flash, flash stays readable. */
#define GUARD_BYTES (1u << 16)

__attribute__((used, noreturn)) static void ReportTrap(void) {
  uint32_t cause, pc, address;
  __asm__ volatile("csrr %0, mcause" : "=r"(cause));
  __asm__ volatile("csrr %0, mepc" : "=r"(pc));
  __asm__ volatile("csrr %0, mtval" : "=r"(address));
  EndByFault(cause, pc, cause, address);
}

__attribute__((naked, aligned(4), used)) static void OnTrap(void) {
  __asm__ volatile(
      "la sp, stack_top\n"
      "j ReportTrap\n");
}

static void ProtectMemory(void) {
  const uint32_t flash = (uint32_t)(uintptr_t)flash_start;
  const uint32_t stack = (uint32_t)(uintptr_t)stack_limit;
  /* pmpaddr is in units of 4 bytes. */
  __asm__ volatile("csrw pmpaddr0, %0" : : "r"(flash >> 2));
  __asm__ volatile("csrw pmpaddr1, %0" : : "r"((flash + (uint32_t)(uintptr_t)flash_bytes) >> 2));
  __asm__ volatile("csrw pmpaddr2, %0" : : "r"((stack - GUARD_BYTES) >> 2));
  __asm__ volatile("csrw pmpaddr3, %0" : : "r"(stack >> 2));
  __asm__ volatile(
      "csrw pmpcfg0, %0"
      :
      : "r"(PMP_LOCKED_NO_ACCESS << 24 | PMP_OFF << 16 | PMP_LOCKED_READ_EXECUTE << 8 | PMP_OFF));
}

__attribute__((used, noreturn)) static void StartC(void) {
  ProtectMemory();
  RunProgram();
}

__attribute__((naked, section(".vectors"), used, noreturn)) void Start(void) {
  __asm__ volatile(
      ".option push\n"
      ".option norelax\n"
      "la gp, __global_pointer$\n"
      ".option pop\n"
      "la sp, stack_top\n"
      "la t0, OnTrap\n"
      "csrw mtvec, t0\n"
      "j StartC\n");
}
