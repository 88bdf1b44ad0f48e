// SPDX-License-Identifier: Apache-2.0
//
// The functions of c_backend_api.h that look names up, apart from the others because they need the
// table of modules.
#include "tvm/runtime/crt/crt_config.h"
#include "tvm/runtime/crt/module.h"

// A module's handle is its number with this bit.
#define MODULE_BIT 0x8000u

int TVMBackendGetFuncFromEnv(void* mod_node, const char* func_name, TVMFunctionHandle* out) {
  TVMModuleHandle system_lib;
  uint32_t i;
  (void)mod_node;
  // The first model may be asked for before anybody has registered it.
  (void)TVMModCreateFromCModule(TVMSystemLibEntryPoint(), &system_lib);
  for (i = 0; i < TVM_CRT_MAX_REGISTERED_MODULES; ++i) {
    if (TVMModGetFunction((void*)(uintptr_t)(i | MODULE_BIT), func_name, 0, out) == 0) return 0;
  }
  return TVMFuncGetGlobal(func_name, out) == 0 ? 0 : -1;
}

int TVMBackendRegisterSystemLibSymbol(const char* name, void* ptr) {
  return TVMFuncRegisterGlobal(name, ptr, 0);
}
