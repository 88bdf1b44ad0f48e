// SPDX-License-Identifier: Apache-2.0
//
// A program of the C interface, which needs no runtime.
#include <stdio.h>

#include "doubled.h"

int main(void) {
  float x[3] = {1, 2, 3}, y[3];
  const struct tvmgen_doubled_inputs inputs = {.x = x};
  const struct tvmgen_doubled_outputs outputs = {.output = y};
  if (tvmgen_doubled_run(&inputs, &outputs) != 0) return 1;
  printf("%g %g %g\n", (double)y[0], (double)y[1], (double)y[2]);
  return 0;
}
