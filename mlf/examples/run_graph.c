// SPDX-License-Identifier: Apache-2.0
//
// Runs the model my_mod on the graph executor of the C runtime.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tvm/runtime/crt/graph_executor.h"
#include "tvmgen_my_mod.h"

static uint8_t memory[4096];

static int Fail(const char* what) {
  printf("%s: %s\n", what, TVMGetLastError());
  return 1;
}

int main(void) {
  const uint8_t a[2] = {1, 250};
  const uint8_t b[2] = {2, 5};
  const uint8_t* sum;
  TVMGraphExecutor executor;
  if (TVMGraphExecutor_Init(&executor, &tvmgen_my_mod_graph, 1, memory, sizeof(memory)) != 0) {
    return Fail("executor");
  }
  memcpy(TVMGraphExecutor_GetPort(&executor, TVMGEN_MY_MOD_INPUT_A_INDEX), a, sizeof(a));
  memcpy(TVMGraphExecutor_GetPort(&executor, TVMGEN_MY_MOD_INPUT_B_INDEX), b, sizeof(b));
  if (TVMGraphExecutor_Run(&executor) != 0) return Fail("run");
  sum = (const uint8_t*)TVMGraphExecutor_GetPort(&executor, TVMGEN_MY_MOD_NUM_INPUTS);
  printf("%d %d\n", sum[0], sum[1]);
  return sum[0] == 3 && sum[1] == 255 ? 0 : 1;
}
