// SPDX-License-Identifier: Apache-2.0
//
// Tests that each ABI header is C99 without any other header, and that a C program can call the
// runtime.
#include <stdio.h>
#include <string.h>

#include "kiln/metadata.h"
#include "tvm/runtime/c_backend_api.h"
#include "tvm/runtime/c_runtime_api.h"
#include "tvm/runtime/metadata_types.h"

int main(void) {
  const int64_t shape[2] = {2, 3};
  float values[6] = {1, 2, 3, 4, 5, 6};
  float copy[6] = {0};
  TVMArrayHandle array = NULL;
  if (TVMArrayAlloc(shape, 2, kDLFloat, 32, 1, kDLCPU, 0, &array) != 0) return 1;
  if (TVMArrayCopyFromBytes(array, values, sizeof(values)) != 0) return 2;
  if (TVMArrayCopyToBytes(array, copy, sizeof(copy)) != 0) return 3;
  if (memcmp(values, copy, sizeof(values)) != 0) return 4;
  if (TVMArrayCopyToBytes(array, copy, 1) == 0) return 5;
  printf("%s\n", TVMGetLastError());
  return TVMArrayFree(array);
}
