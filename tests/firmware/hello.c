// SPDX-License-Identifier: Apache-2.0
//
// Guarantees of the start-up code: initial values, zeros, a painted unused stack, and a memory
// pool.
#include <string.h>

#include "runtime_crt/platform/bare_metal/semihosting.h"
#include "runtime_crt/platform/bare_metal/stack_usage.h"
#include "tvm/runtime/crt/platform.h"

static volatile int initialised = 42;
static volatile int zeroed[100];
static const volatile float constant = 1.5f;

static int Fail(const char* text) {
  SemihostingWrite(text);
  SemihostingWrite("\n");
  return 1;
}

__attribute__((noinline)) static int UseStack(void) {
  volatile char bytes[1000];
  memset((char*)bytes, 1, sizeof(bytes));
  return bytes[999];
}

int main(void) {
  const DLDevice cpu = {kDLCPU, 0};
  const uint32_t before = StackUsedBytes();
  void *first, *second;
  int i;
  if (initialised != 42) return Fail("data have no initial values");
  for (i = 0; i < 100; ++i) {
    if (zeroed[i] != 0) return Fail("bss is not zero");
  }
  // The product needs enabled floating-point instructions.
  if ((int)(constant * (float)initialised) != 63) return Fail("1.5 * 42 is not 63");
  if (before > 512) return Fail("the stack is not painted");
  if (UseStack() != 1 || StackUsedBytes() < before + 900 || StackUsedBytes() > before + 1300)
    return Fail("the stack's mark is not where the stack has been");
  if (TVMPlatformMemoryAllocate(1000, cpu, &first) != kTvmErrorNoError ||
      TVMPlatformMemoryAllocate(1000, cpu, &second) != kTvmErrorNoError || first == second)
    return Fail("there is no memory");
  memset(second, 1, 1000);
  if (TVMPlatformMemoryFree(second, cpu) != kTvmErrorNoError ||
      TVMPlatformMemoryFree(first, cpu) != kTvmErrorNoError)
    return Fail("memory cannot be given back");
  if (TVMPlatformMemoryAllocate(1024 * 1024, cpu, &first) != kTvmErrorPlatformNoMemory)
    return Fail("there is more memory than the machine has");
  SemihostingWrite("hello\n");
  return 0;
}
