// SPDX-License-Identifier: Apache-2.0
//
// FAIL(code, "text") stores the text for TVMGetLastError and evaluates to the code. If
// TVM_CRT_ERROR_TEXT_BYTES is 0, the program does not contain the texts.
#ifndef KILN_RUNTIME_CRT_FAIL_H_
#define KILN_RUNTIME_CRT_FAIL_H_

#include "tvm/runtime/c_runtime_api.h"
#include "tvm/runtime/crt/crt_config.h"
#include "tvm/runtime/crt/error_codes.h"

#if TVM_CRT_ERROR_TEXT_BYTES > 0
static tvm_crt_error_t FailWithText(tvm_crt_error_t code, const char* text) {
  TVMAPISetLastError(text);
  return code;
}
#define FAIL(code, text) FailWithText((code), (text))
#else
#define FAIL(code, text) (code)
#endif

#endif  // KILN_RUNTIME_CRT_FAIL_H_
