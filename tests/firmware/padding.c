// SPDX-License-Identifier: Apache-2.0
//
// The padding bytes of a tensor may have any value. For example, three of the four bytes of the
// device type on Arm are padding.
#include <string.h>

#include "my_mod.h"
#include "runtime_crt/platform/bare_metal/semihosting.h"
#include "tvm/runtime/crt/crt.h"
#include "tvm/runtime/crt/module.h"

static int Fail(const char* text) {
  SemihostingWrite(text);
  SemihostingWrite(": ");
  SemihostingWrite(TVMGetLastError());
  SemihostingWrite("\n");
  return 1;
}

int main(void) {
  uint8_t data[3][2] = {{1, 2}, {3, 5}, {0, 0}};
  int64_t shape[2] = {1, 2};
  DLTensor tensors[3];
  TVMValue args[3], result;
  int codes[3], result_code, i;
  TVMModuleHandle module;
  TVMFunctionHandle run;
  memset(tensors, 0xff, sizeof(tensors));
  for (i = 0; i < 3; ++i) {
    tensors[i].data = data[i];
    tensors[i].device.device_type = kDLCPU;
    tensors[i].device.device_id = 0;
    tensors[i].ndim = 2;
    tensors[i].dtype.code = kDLUInt;
    tensors[i].dtype.bits = 8;
    tensors[i].dtype.lanes = 1;
    tensors[i].shape = shape;
    tensors[i].strides = NULL;
    tensors[i].byte_offset = 0;
    args[i].v_handle = &tensors[i];
    codes[i] = kTVMDLTensorHandle;
  }
  if (TVMInitializeRuntime() != kTvmErrorNoError) return Fail("the runtime does not start");
  if (TVMModCreateFromCModule(&tvmgen_my_mod_module, &module) != kTvmErrorNoError ||
      TVMModGetFunction(module, "tvmgen_my_mod___tvm_main__", 0, &run) != 0)
    return Fail("no function of my_mod");
  if (TVMFuncCall(run, args, codes, 3, &result, &result_code) != 0)
    return Fail("my_mod does not run");
  if (data[2][0] != 4 || data[2][1] != 7) return Fail("my_mod gives another sum");
  tensors[1].device.device_type = kDLCUDA;
  if (TVMFuncCall(run, args, codes, 3, &result, &result_code) == 0)
    return Fail("my_mod takes a tensor of another device");
  return 0;
}
