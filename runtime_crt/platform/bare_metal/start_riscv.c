/* SPDX-License-Identifier: Apache-2.0
 *
 * Reset and traps of RISC-V in machine mode. RAM below the stack is made a fault by a region of the
 * physical memory protection that is locked, so that it holds for machine mode too: code and
 * constants cannot be written, and a stack that overflows is noticed.
 */
#include "runtime_crt/platform/bare_metal/image.h"
#include "runtime_crt/platform/bare_metal/start.h"

/* pmpcfg: locked, region from the address before to this one, executable and readable. */
#define PMP_LOCKED_TOR_RX 0x8du

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

__attribute__((used, noreturn)) static void StartC(void) {
  /* Addresses are in units of 4 bytes. */
  __asm__ volatile("csrw pmpaddr0, %0" : : "r"((uint32_t)(uintptr_t)stack_limit >> 2));
  __asm__ volatile("csrw pmpcfg0, %0" : : "r"(PMP_LOCKED_TOR_RX));
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
