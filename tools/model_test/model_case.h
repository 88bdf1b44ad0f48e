/* SPDX-License-Identifier: Apache-2.0
 *
 * One set of inputs and expected outputs of a model, as constant C data: what model_test makes of
 * .npy files (write_case.cc) and model_main.c runs.
 */
#ifndef KILN_TOOLS_MODEL_TEST_MODEL_CASE_H_
#define KILN_TOOLS_MODEL_TEST_MODEL_CASE_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct GraphTable;

struct ModelTensor {
  const char* name;          // In the model.
  const char* runtime_name;  // By which the C runtime's AOT executor knows it.
  const char* dtype;         // "float32"
  size_t size_bytes;
  void* data;            // The values of an input; of an output, where they are to go.
  const void* expected;  // What comes out; NULL for an input, and for an output of no interest.
};

struct ModelCase {
  const char* module_name;
  const struct ModelTensor* inputs;  // In the model's order.
  int num_inputs;
  const struct ModelTensor* outputs;  // In the model's order.
  int num_outputs;
  double rtol,
      atol;  // |found - expected| <= atol + rtol * |expected|; equal bits where both are 0.
  // Runs the model once, and returns NULL, or why it failed.
  const char* (*run)(const struct ModelCase* test);
  const struct GraphTable* graph;  // For RunModelGraph.
};

// The one case of the program.
extern const struct ModelCase model_case;

// `run` on the executors of the C runtime.
const char* RunModelAot(const struct ModelCase* test);
const char* RunModelGraph(const struct ModelCase* test);

// Called around each inference alone: where what counts instructions and stack begins and ends.
void BeginInference(void);
void EndInference(void);
// Says how deep the stack was, where that is measured.
void ReportInference(void);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // KILN_TOOLS_MODEL_TEST_MODEL_CASE_H_
