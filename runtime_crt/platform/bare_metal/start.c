/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime_crt/platform/bare_metal/start.h"

#include "runtime_crt/platform/bare_metal/image.h"
#include "runtime_crt/platform/bare_metal/semihosting.h"
#include "runtime_crt/platform/bare_metal/stack_usage.h"

int main(void);

void RunProgram(void) {
  const uint32_t* from = data_load;
  uint32_t* to;
  void (*const* constructor)(void);
  for (to = data_start; to < data_end; ++to) *to = *from++;
  for (to = bss_start; to < bss_end; ++to) *to = 0;
  PaintStack();
  for (constructor = constructors_start; constructor < constructors_end; ++constructor) {
    (*constructor)();
  }
  SemihostingExit(main());
}

void EndByFault(uint32_t number, uint32_t pc, uint32_t cause, uint32_t address) {
  SemihostingWrite("fault ");
  SemihostingWriteHex(number);
  SemihostingWrite(" at ");
  SemihostingWriteHex(pc);
  SemihostingWrite(", cause ");
  SemihostingWriteHex(cause);
  SemihostingWrite(", address ");
  SemihostingWriteHex(address);
  SemihostingWrite("\n");
  SemihostingExit(STATUS_FAULT + (int)(number & 31u));
}
