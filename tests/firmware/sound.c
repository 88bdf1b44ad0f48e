// SPDX-License-Identifier: Apache-2.0
//
// From sound to a model's answer. The model `front` computes features of each step of sound, and
// the model `judge` reads as many features as it has room for. Without HAS_JUDGE, the features are
// compared. The test writes sound.h with the arrays `sound` and `expected` of steps of bytes.
#include "sound.h"

#include <kiln/model.h>
#include <stdint.h>
#include <string.h>

#include "runtime_crt/platform/bare_metal/semihosting.h"

extern const TVMModel front, judge;

enum { kStepBytes = sizeof(sound[0]), kResultBytes = sizeof(expected[0]), kMaxFeatures = 2048 };

static uint8_t features[kMaxFeatures] __attribute__((aligned(16)));
static int results;

// True if the result is equal to the next expected result.
static int Is(const uint8_t* result) {
  const int number = results++;
  if (number >= (int)(sizeof(expected) / sizeof(expected[0]))) return 1;
  if (memcmp(result, expected[number], kResultBytes) == 0) return 1;
  SemihostingWrite("another result, number ");
  SemihostingWriteHex((uint32_t)number);
  SemihostingWrite("\n");
  return 0;
}

static int Judge(void) {
#ifdef HAS_JUDGE
  static uint8_t judgement[kResultBytes] __attribute__((aligned(16)));
  void* const inputs[1] = {features};
  void* const outputs[1] = {judgement};
  if (judge.run_static(inputs, outputs, NULL, NULL) != 0) return 0;
  return Is(judgement);
#else
  return Is(features);
#endif
}

int main(void) {
#ifdef HAS_JUDGE
  const int64_t room = judge.inputs[0].size_bytes;
#else
  const int64_t room = front.outputs[0].size_bytes;
#endif
  const int64_t width = front.outputs[0].size_bytes;
  int64_t used = 0;
  size_t step;
  if (front.inputs[0].size_bytes != kStepBytes || room > kMaxFeatures) return 2;
  for (step = 0; step < sizeof(sound) / sizeof(sound[0]); ++step) {
    static uint8_t samples[kStepBytes] __attribute__((aligned(16)));
    uint8_t is_valid = 1;
    void* const inputs[1] = {samples};
    void* const outputs[2] = {features + used, &is_valid};
    memcpy(samples, sound[step], kStepBytes);
    if (front.run_static(inputs, outputs, NULL, NULL) != 0) return 3;
    if (!is_valid) continue;
    used += width;
    if (used < room) continue;
    if (!Judge()) return 1;
    used = 0;
  }
  return results < (int)(sizeof(expected) / sizeof(expected[0])) ? 4 : 0;
}
