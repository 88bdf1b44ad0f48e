// SPDX-License-Identifier: Apache-2.0
//
// A model that keeps its state: before any call, after a reset in the middle of a stream, and with
// two streams whose states are in blocks of the program.
#include "stream.h"

#include <stdint.h>

static uint8_t one[TVMGEN_STREAM_STATE_SIZE_BYTES]
    __attribute__((aligned(TVMGEN_STREAM_STATE_ALIGNMENT_BYTES)));
static uint8_t two[TVMGEN_STREAM_STATE_SIZE_BYTES]
    __attribute__((aligned(TVMGEN_STREAM_STATE_ALIGNMENT_BYTES)));

// True if a step with `sample` gives a mean of `sum_of_four` / 4 and `count` twice. If `state` is
// null, the module's own state is used.
static int Gives(void* state, float sample, float sum_of_four, int8_t count) {
  float mean[1] = {0.0f};
  int8_t now[2] = {0, 0};
  const struct tvmgen_stream_inputs inputs = {.sample = &sample};
  const struct tvmgen_stream_outputs outputs = {.mean = mean, .count_now = now};
  const int32_t status = state == 0 ? tvmgen_stream_run(&inputs, &outputs)
                                    : tvmgen_stream_run_with_state(&inputs, &outputs, state);
  const float difference = 4.0f * mean[0] - sum_of_four;
  return status == 0 && difference < 1e-6f && difference > -1e-6f && now[0] == 2 * count &&
         now[1] == 2 * count;
}

// True if steps 1, 2, 3, 4, 5 give the results from the initial state on.
static int IsStream(void* state) {
  return Gives(state, 1.0f, 1.0f, 6) && Gives(state, 2.0f, 3.0f, 8) &&
         Gives(state, 3.0f, 6.0f, 11) && Gives(state, 4.0f, 10.0f, 15) &&
         Gives(state, 5.0f, 14.0f, 20);
}

int main(void) {
  if (!IsStream(0)) return 1;
  if (IsStream(0)) return 2;  // the stream continues
  tvmgen_stream_reset_state();
  if (!Gives(0, 8.0f, 8.0f, 13)) return 3;
  tvmgen_stream_reset_state();
  if (!IsStream(0)) return 4;
  if (tvmgen_stream_initialize_state(one) != 0 || tvmgen_stream_initialize_state(two) != 0)
    return 5;
  if (!Gives(one, 4.0f, 4.0f, 9) || !Gives(two, 2.0f, 2.0f, 7)) return 6;
  if (!Gives(one, 1.0f, 5.0f, 10) || !Gives(two, -2.0f, 0.0f, 5)) return 7;
  // The module's own state has not changed.
  return Gives(0, 6.0f, 18.0f, 26) ? 0 : 8;
}
