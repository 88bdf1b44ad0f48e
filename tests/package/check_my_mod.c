// SPDX-License-Identifier: Apache-2.0
// A program with a packaged my_mod model. Its exit status is the result of the test.
#include "my_mod.h"

int main(void) {
  static const uint8_t a[2] = {1, 250};
  static const uint8_t b[2] = {2, 5};
  uint8_t sum[2] = {0, 0};
  const struct tvmgen_my_mod_inputs inputs = {.a = a, .b = b};
  const struct tvmgen_my_mod_outputs outputs = {.output = sum};
  if (tvmgen_my_mod_run(&inputs, &outputs) != 0) return 1;
  return sum[0] == 3 && sum[1] == 255 ? 0 : 2;
}
