// SPDX-License-Identifier: Apache-2.0
//
// Runs the model MODEL step by step. Reads inputs from standard input and writes outputs to
// standard output. Exits with 2 if a step is incomplete, or with 3 if the model fails.
#include <kiln/model.h>
#include <stdio.h>
#include <stdlib.h>

extern const TVMModel MODEL;

enum { kMaxTensors = 16 };

static void Allocate(const TVMModelMemory* tensors, int32_t count, void** places) {
  int32_t i;
  if (count > kMaxTensors) exit(4);
  for (i = 0; i < count; ++i) {
    places[i] = calloc(1, (size_t)tensors[i].size_bytes);
    if (places[i] == NULL) exit(5);
  }
}

int main(void) {
  void *inputs[kMaxTensors], *outputs[kMaxTensors];
  Allocate(MODEL.inputs, MODEL.num_inputs, inputs);
  Allocate(MODEL.outputs, MODEL.num_outputs, outputs);
  for (;;) {
    int32_t i;
    for (i = 0; i < MODEL.num_inputs; ++i) {
      const size_t size = (size_t)MODEL.inputs[i].size_bytes;
      const size_t found = fread(inputs[i], 1, size, stdin);
      if (found == 0 && i == 0) return 0;
      if (found != size) return 2;
    }
    if (MODEL.run_static(inputs, outputs, NULL, NULL) != 0) return 3;
    for (i = 0; i < MODEL.num_outputs; ++i) {
      fwrite(outputs[i], 1, (size_t)MODEL.outputs[i].size_bytes, stdout);
    }
  }
}
