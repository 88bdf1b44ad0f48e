// SPDX-License-Identifier: Apache-2.0
//
// Backend function for generated code that looks up functions by name. It is not in backend.c
// because it needs the table of modules.
#include "fail.h"
#include "handles.h"

int TVMBackendGetFuncFromEnv(void* mod_node, const char* func_name, TVMFunctionHandle* out) {
  TVMModuleHandle system_lib;
  uint32_t i;
  (void)mod_node;
  // Generated code may call this before the program has registered the first module.
  (void)TVMModCreateFromCModule(TVMSystemLibEntryPoint(), &system_lib);
  // The last number stands for the global functions.
  for (i = 0; i <= TVM_CRT_GLOBAL_FUNCTIONS; ++i) {
    if (TVMHandles_FindFunction(i, func_name, out) == kTvmErrorNoError) return 0;
  }
  (void)FAIL(kTvmErrorFunctionNameNotFound,
             "there is no function of that name, in no module and no global one");
  return -1;
}
