/* SPDX-License-Identifier: Apache-2.0
 *
 * One set of inputs and expected outputs of a model, as constant C data. model_test makes it from
 * .npy files (write_case.cc), and model_main.c runs it.
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
  const char* runtime_name;  // The name in the C runtime's AOT executor.
  const char* dtype;         // Such as "float32".
  size_t size_bytes;
  void* data;            // Values of an input; memory for an output.
  const void* expected;  // Expected values. NULL for an input, or if the output is not compared.
};

struct ModelCase {
  const char* module_name;
  const struct ModelTensor* inputs;  // In the model's order.
  int num_inputs;
  const struct ModelTensor* outputs;  // In the model's order.
  int num_outputs;
  double rtol,
      atol;  // |found - expected| <= atol + rtol * |expected|; equal bits if both are 0.
  // Runs the model once. Returns NULL, or the reason of a failure.
  const char* (*run)(const struct ModelCase* test);
  const struct GraphTable* graph;  // For RunModelGraph.
};

// The program's only case.
extern const struct ModelCase model_case;

// Values of `run` for the executors of the C runtime.
const char* RunModelAot(const struct ModelCase* test);
const char* RunModelGraph(const struct ModelCase* test);

// Called directly before and after each inference. They delimit the measurement of instructions and
// stack.
void BeginInference(void);
void EndInference(void);
// Reports the depth of the stack if it is measured.
void ReportInference(void);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // KILN_TOOLS_MODEL_TEST_MODEL_CASE_H_
