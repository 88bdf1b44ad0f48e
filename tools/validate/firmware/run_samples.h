/* SPDX-License-Identifier: Apache-2.0
 *
 * A model as run_samples.c runs it. What is made for each model defines all of these.
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

/* The model's function; 0 if all is well. */
int32_t RunModel(void);

#endif /* KILN_TOOLS_VALIDATE_FIRMWARE_RUN_SAMPLES_H_ */
