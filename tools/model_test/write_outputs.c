// SPDX-License-Identifier: Apache-2.0
//
// Runs the program's model_case once and writes the bytes of its outputs to a file, one after the
// other:
//   write_outputs FILE
#include <stdio.h>

#include "tools/model_test/model_case.h"

static int Write(FILE* file) {
  int i;
  for (i = 0; i < model_case.num_outputs; ++i) {
    const struct ModelTensor* output = &model_case.outputs[i];
    if (fwrite(output->data, 1, output->size_bytes, file) != output->size_bytes) return 1;
  }
  return 0;
}

int main(int argc, char** argv) {
  const char* error = argc == 2 ? model_case.run(&model_case) : "usage: write_outputs FILE";
  FILE* file;
  int wrong;
  if (error != NULL) {
    fprintf(stderr, "%s\n", error);
    return 1;
  }
  file = fopen(argv[1], "wb");
  if (file == NULL) {
    perror(argv[1]);
    return 1;
  }
  wrong = Write(file);
  return fclose(file) != 0 || wrong;
}
