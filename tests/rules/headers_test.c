// SPDX-License-Identifier: Apache-2.0
//
// Models with the C interface in one C99 program: one without inputs, one with scalars named like
// keywords, and one with a workspace.
#include <kiln/model.h>
#include <stdio.h>
#include <string.h>

#include "constant.h"
#include "digits.h"
#include "exp.h"
#include "kInputs.h"
#include "kiln.h"
#include "memset.h"
#include "names.h"
#include "scalar.h"
#include "std.h"

static uint8_t workspace[TVMGEN_DIGITS_WORKSPACE_SIZE_BYTES]
    __attribute__((aligned(TVMGEN_DIGITS_WORKSPACE_ALIGNMENT_BYTES)));
static const TVMWorkspace workspaces[] = {{workspace, sizeof(workspace)}};

static int failures;

static void Expect(int ok, const char* what) {
  if (!ok) printf("wrong: %s\n", what);
  failures += !ok;
}

static void TestConstant(void) {
  float out = 0;
  const struct tvmgen_constant_outputs outputs = {.output = &out};
  const struct tvmgen_constant_inputs inputs = {0};
  Expect(TVMGEN_CONSTANT_NUM_INPUTS == 0, "a model without inputs has none");
  Expect(tvmgen_constant_run(NULL, &outputs) == 0 && out - 5 == 0, "NULL stands for no inputs");
  out = 0;
  Expect(tvmgen_constant_run(&inputs, &outputs) == 0 && out - 5 == 0, "so does their struct");
}

static void TestScalar(void) {
  float x = 1.5F, y = 0.25F, out = 0;
  const struct tvmgen_scalar_inputs inputs = {.x = &x, .short_ = &y};
  const struct tvmgen_scalar_outputs outputs = {.return_ = &out};
  Expect(TVMGEN_SCALAR_INPUT_SHORT__NDIM == 0 && TVMGEN_SCALAR_INPUT_SHORT__SIZE_BYTES == 4,
         "a scalar has no dimension");
  Expect(strcmp(TVMGEN_SCALAR_OUTPUT_RETURN__DTYPE, "float32") == 0, "its dtype");
  Expect(tvmgen_scalar_run(&inputs, &outputs) == 0 && out - 1.75F == 0, "a sum of scalars");
}

static void TestNames(void) {
  float in[8] = {1, 2, 3, 4, 5, 6, 7, 8}, out[5];
  const struct tvmgen_names_inputs inputs = {.x = in,
                                             .x_info = in + 1,
                                             .std = in + 2,
                                             .kiln = in + 3,
                                             .input = in + 4,
                                             .Inputs = in + 5,
                                             .kIndex = in + 6,
                                             .size_t = in + 7};
  const struct tvmgen_names_outputs outputs = {
      .run = out, .Outputs = out + 1, .output = out + 2, .inputs = out + 3, .std = out + 4};
  Expect(tvmgen_names_run(&inputs, &outputs) == 0 && out[4] - 10 == 0, "names of the header's");
}

static void TestTakenNames(void) {
  const TVMModel* const models[] = {&exp_, &kInputs, &kiln_, &memset_, &std_};
  float x = 1.5F, y = 0.25F;
  size_t i;
  for (i = 0; i < sizeof(models) / sizeof(models[0]); ++i) {
    float out = 0;
    const struct tvmgen_scalar_inputs inputs = {.x = &x, .short_ = &y};
    const struct tvmgen_scalar_outputs outputs = {.return_ = &out};
    Expect(TVMExecute(models[i], &inputs, &outputs, NULL) == 0 && out - 1.75F == 0,
           models[i]->name);
  }
}

static void TestDigits(void) {
  static float image[TVMGEN_DIGITS_INPUT_IMAGE_SIZE_BYTES / sizeof(float)];
  static const int64_t shape[TVMGEN_DIGITS_INPUT_IMAGE_NDIM] = TVMGEN_DIGITS_INPUT_IMAGE_SHAPE;
  float scores[10], sum = 0;
  int i;
  const struct tvmgen_digits_inputs inputs = {.image = image};
  const struct tvmgen_digits_outputs outputs = {.probabilities = scores};
  Expect(shape[0] == 1 && shape[1] == 1 && shape[2] == 8 && shape[3] == 8,
         "the shape of the image");
  float again[10];
  const struct tvmgen_digits_outputs other = {.probabilities = again};
  TVMContext context = {0};
  Expect(tvmgen_digits_run(&inputs, &outputs) == 0, "a run in static memory");
  for (i = 0; i < 10; ++i) sum += scores[i];
  Expect(sum > 0.9999F && sum < 1.0001F, "probabilities");
  Expect(tvmgen_digits_run_with_workspace(image, again, workspace) == 0, "a run in a workspace");
  Expect(memcmp(scores, again, sizeof(scores)) == 0, "the same in a workspace");
  memset(again, 0, sizeof(again));
  Expect(TVMExecute(&digits, &inputs, &other, NULL) == 0, "TVMExecute without a context");
  Expect(memcmp(scores, again, sizeof(scores)) == 0, "the same by TVMExecute");
  memset(again, 0, sizeof(again));
  Expect(TVMSetWorkspaces(&context, workspaces, 1) == 0, "TVMSetWorkspaces");
  Expect(TVMExecute(&digits, &inputs, &other, &context) == 0, "TVMExecute with a context");
  Expect(memcmp(scores, again, sizeof(scores)) == 0, "the same in the context's workspace");
}

int main(void) {
  TestConstant();
  TestScalar();
  TestNames();
  TestTakenNames();
  TestDigits();
  return failures == 0 ? 0 : 1;
}
