// SPDX-License-Identifier: Apache-2.0
//
// Two models by name in one image, one of them with operators of an external code generator. Each
// is a module with its own registry.
#include <string.h>

#include "mixed.h"
#include "my_mod.h"
#include "runtime_crt/platform/bare_metal/semihosting.h"
#include "tvm/runtime/crt/aot_executor.h"
#include "tvm/runtime/crt/crt.h"
#include "tvm/runtime/crt/module.h"

static const DLDevice cpu = {kDLCPU, 0};

static int Fail(const char* text) {
  SemihostingWrite(text);
  SemihostingWrite(": ");
  SemihostingWrite(TVMGetLastError());
  SemihostingWrite("\n");
  return 1;
}

static void* Input(const TVMAotExecutor* executor, const char* name) {
  return TVMAotExecutor_GetInput(executor, TVMAotExecutor_GetInputIndex(executor, name))->data;
}

static int RunSum(TVMModuleHandle module) {
  TVMAotExecutor* executor;
  const uint8_t* sum;
  if (TVMAotExecutor_Create(module, cpu, &executor, "my_mod") != kTvmErrorNoError)
    return Fail("no executor of my_mod");
  memcpy(Input(executor, "a"), "\1\2", 2);
  memcpy(Input(executor, "b"), "\3\5", 2);
  if (TVMAotExecutor_Run(executor) != 0) return Fail("my_mod does not run");
  sum = (const uint8_t*)TVMAotExecutor_GetOutput(executor, 0)->data;
  if (sum[0] != 4 || sum[1] != 7) return Fail("my_mod gives another sum");
  return TVMAotExecutor_Release(executor, cpu) == kTvmErrorNoError ? 0 : Fail("my_mod stays");
}

static int RunMixed(TVMModuleHandle module) {
  static const float x[6] = {1, -2, 3, -4, 5, -6}, y[3] = {0.5f, 1, -8};
  TVMAotExecutor* executor;
  const float *product, *sum;
  int i;
  if (TVMAotExecutor_Create(module, cpu, &executor, "mixed") != kTvmErrorNoError)
    return Fail("no executor of mixed");
  memcpy(Input(executor, "x"), x, sizeof(x));
  memcpy(Input(executor, "y"), y, sizeof(y));
  if (TVMAotExecutor_Run(executor) != 0) return Fail("mixed does not run");
  product = (const float*)TVMAotExecutor_GetOutput(executor, 0)->data;
  sum = (const float*)TVMAotExecutor_GetOutput(executor, 1)->data;
  for (i = 0; i < 6; ++i) {
    const float added = x[i] + y[i % 3], positive = added > 0 ? added : 0;
    if (sum[i] - positive != 0 || product[i] + positive * x[i] != 0)
      return Fail("mixed gives other values");
  }
  return TVMAotExecutor_Release(executor, cpu) == kTvmErrorNoError ? 0 : Fail("mixed stays");
}

int main(void) {
  TVMModuleHandle sum, mixed;
  TVMFunctionHandle function;
  if (TVMInitializeRuntime() != kTvmErrorNoError) return Fail("the runtime does not start");
  if (TVMModCreateFromCModule(&tvmgen_my_mod_module, &sum) != kTvmErrorNoError ||
      TVMModCreateFromCModule(&tvmgen_mixed_module, &mixed) != kTvmErrorNoError)
    return Fail("the runtime does not take both models");
  if (TVMModGetFunction(mixed, "tvmgen_mixed_csource_main_0", 0, &function) != 0)
    return Fail("the registry has no function of csource");
  if (TVMModGetFunction(sum, "tvmgen_mixed_csource_main_0", 0, &function) == 0)
    return Fail("the registry of the other model has it too");
  return RunSum(sum) + RunMixed(mixed);
}
