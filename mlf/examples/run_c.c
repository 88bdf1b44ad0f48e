// SPDX-License-Identifier: Apache-2.0
//
// Runs the model my_mod with the C interface, which needs no runtime.
#include <stdint.h>
#include <stdio.h>

#include "tvmgen_my_mod.h"

int main(void) {
  uint8_t a[2] = {1, 250};
  uint8_t b[2] = {2, 5};
  uint8_t sum[2] = {0, 0};
  const struct tvmgen_my_mod_inputs inputs = {.a = a, .b = b};
  const struct tvmgen_my_mod_outputs outputs = {.output = sum};
  const int32_t error = tvmgen_my_mod_run(&inputs, &outputs);
  if (error != 0) {
    printf("error %d\n", (int)error);
    return 1;
  }
  printf("%d %d\n", sum[0], sum[1]);
  return sum[0] == 3 && sum[1] == 255 ? 0 : 1;
}
