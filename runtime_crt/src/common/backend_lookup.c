// SPDX-License-Identifier: Apache-2.0
//
// The functions of c_backend_api.h that look names up, apart from the others because they need the
// table of modules.
#include "tvm/runtime/crt/module.h"

int TVMBackendGetFuncFromEnv(void* mod_node, const char* func_name, TVMFunctionHandle* out) {
  TVMModuleHandle system_lib;
  (void)mod_node;
  if (TVMModCreateFromCModule(TVMSystemLibEntryPoint(), &system_lib) == kTvmErrorNoError &&
      TVMModGetFunction(system_lib, func_name, 0, out) == 0) {
    return 0;
  }
  return TVMFuncGetGlobal(func_name, out) == 0 ? 0 : -1;
}

int TVMBackendRegisterSystemLibSymbol(const char* name, void* ptr) {
  return TVMFuncRegisterGlobal(name, ptr, 0);
}
