/* SPDX-License-Identifier: Apache-2.0
 *
 * Declarations that each model's generated code defines for run_samples.c.
 */
#ifndef KILN_TOOLS_VALIDATE_FIRMWARE_RUN_SAMPLES_H_
#define KILN_TOOLS_VALIDATE_FIRMWARE_RUN_SAMPLES_H_

#include <stdint.h>

struct SampleBuffer {
  void* data;
  uint32_t bytes;
};

extern const struct SampleBuffer sample_buffers[]; /* Inputs, then outputs. */
extern const uint32_t num_sample_inputs, num_sample_outputs, num_samples;
extern const char samples_path[], results_path[];

/* Runs the model. Returns 0 on success. */
int32_t RunModel(void);

#endif /* KILN_TOOLS_VALIDATE_FIRMWARE_RUN_SAMPLES_H_ */
