// SPDX-License-Identifier: Apache-2.0
// A program with a packaged digits model. Its exit status is 0 if the sum of the probabilities is
// 1.
#include "digits.h"

int main(void) {
  static float image[8 * 8];
  float probabilities[10];
  float sum = 0;
  const struct tvmgen_digits_inputs inputs = {.image = image};
  const struct tvmgen_digits_outputs outputs = {.probabilities = probabilities};
  if (tvmgen_digits_run(&inputs, &outputs) != 0) return 1;
  for (int i = 0; i < 10; ++i) {
    if (!(probabilities[i] > 0.0f)) return 2;
    sum += probabilities[i];
  }
  return sum > 0.999f && sum < 1.001f ? 0 : 3;
}
