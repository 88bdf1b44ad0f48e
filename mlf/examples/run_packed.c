// SPDX-License-Identifier: Apache-2.0
//
// Runs the model my_mod by name on the AOT executor of the C runtime.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tvm/runtime/crt/aot_executor.h"
#include "tvm/runtime/crt/crt.h"
#include "tvm/runtime/crt/module.h"
#include "tvmgen_my_mod.h"

static uint8_t memory[4096];

static int Fail(const char* what) {
  printf("%s: %s\n", what, TVMGetLastError());
  return 1;
}

int main(void) {
  const uint8_t a[2] = {1, 250};
  const uint8_t b[2] = {2, 5};
  const DLDevice cpu = {kDLCPU, 0};
  const uint8_t* sum;
  TVMModuleHandle module;
  TVMAotExecutor executor;
  if (TVMInitializeRuntime() != 0 || TVMModCreateFromCModule(&tvmgen_my_mod_module, &module) != 0) {
    return Fail("start");
  }
  if (TVMAotExecutor_Init(&executor, module, cpu, "my_mod", memory, sizeof(memory)) != 0) {
    return Fail("executor");
  }
  memcpy(TVMAotExecutor_GetInput(&executor, TVMGEN_MY_MOD_INPUT_A_INDEX)->data, a, sizeof(a));
  memcpy(TVMAotExecutor_GetInput(&executor, TVMGEN_MY_MOD_INPUT_B_INDEX)->data, b, sizeof(b));
  if (TVMAotExecutor_Run(&executor) != 0) return Fail("run");
  sum = (const uint8_t*)TVMAotExecutor_GetOutput(&executor, 0)->data;
  printf("%d %d\n", sum[0], sum[1]);
  return sum[0] == 3 && sum[1] == 255 ? 0 : 1;
}
