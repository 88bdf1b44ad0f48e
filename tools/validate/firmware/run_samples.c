/* SPDX-License-Identifier: Apache-2.0
 *
 * Firmware that reads samples one by one from a file of the emulating machine, runs a model, and
 * writes the outputs to another file.
 */
#include "run_samples.h"

#include "runtime_crt/platform/bare_metal/semihosting.h"
#include "runtime_crt/platform/bare_metal/semihosting_files.h"

/* The plugin that counts instructions finds these functions by their symbols. */
__attribute__((noinline)) void BeginInference(void) { __asm__ volatile("nop"); }
__attribute__((noinline)) void EndInference(void) { __asm__ volatile("nop"); }

static int Fail(const char* what) {
  SemihostingWrite(what);
  return 1;
}

static int RunSample(int32_t samples, int32_t results) {
  const uint32_t num_buffers = num_sample_inputs + num_sample_outputs;
  uint32_t i;
  int32_t status;
  for (i = 0; i < num_sample_inputs; ++i) {
    const struct SampleBuffer* buffer = &sample_buffers[i];
    if (SemihostingRead(samples, buffer->data, buffer->bytes) != 0)
      return Fail("no more samples\n");
  }
  BeginInference();
  status = RunModel();
  EndInference();
  if (status != 0) return Fail("the model fails\n");
  for (; i < num_buffers; ++i) {
    const struct SampleBuffer* buffer = &sample_buffers[i];
    if (SemihostingWriteBytes(results, buffer->data, buffer->bytes) != 0) {
      return Fail("the results cannot be written\n");
    }
  }
  return 0;
}

int main(void) {
  const int32_t samples = SemihostingOpen(samples_path, kSemihostingRead);
  const int32_t results = SemihostingOpen(results_path, kSemihostingWrite);
  uint32_t i;
  if (samples < 0 || results < 0) return Fail("the emulator opens no files\n");
  for (i = 0; i < num_samples; ++i) {
    const int status = RunSample(samples, results);
    if (status != 0) return status;
  }
  return SemihostingClose(results) == 0 ? 0 : Fail("the results cannot be written\n");
}
