// SPDX-License-Identifier: Apache-2.0
//
// The text of the last error. Packed functions need no other part of the runtime.
#include "tvm/runtime/c_runtime_api.h"
#include "tvm/runtime/crt/crt_config.h"

#if TVM_CRT_ERROR_TEXT_BYTES > 0
static char last_error[TVM_CRT_ERROR_TEXT_BYTES];

void TVMAPISetLastError(const char* msg) {
  size_t i;
  for (i = 0; i + 1 < sizeof(last_error) && msg[i] != '\0'; ++i) last_error[i] = msg[i];
  last_error[i] = '\0';
}

const char* TVMGetLastError(void) { return last_error; }
#else
void TVMAPISetLastError(const char* msg) { (void)msg; }

const char* TVMGetLastError(void) { return ""; }
#endif
