// SPDX-License-Identifier: Apache-2.0
//
// Runs the program's model_case twice, to detect effects of a run on the next one, and compares the
// outputs. Exits with 0 if they agree. Otherwise reports the differences and exits with 1.
#include <float.h>
#include <string.h>

#include "tools/model_test/element.h"
#include "tools/model_test/model_case.h"
#include "tools/model_test/report.h"

// Bytes of the outputs before a run.
#define GARBAGE 0xa5
#define NUM_RUNS 2

static int IsClose(double found, double expected) {
  const double difference = found < expected ? expected - found : found - expected;
  const double magnitude = expected < 0 ? -expected : expected;
  if (found != found) return expected != expected;
  // Only infinities of the same sign agree.
  if (found == expected) return 1;
  return magnitude <= DBL_MAX && difference <= model_case.atol + model_case.rtol * magnitude;
}

static void ReportOutput(const struct ModelTensor* output) {
  Report(model_case.module_name);
  Report(": output '");
  Report(output->name);
  Report("'");
}

// Reports the first element that differs. Returns the number of such elements.
static unsigned long Compare(const struct ModelTensor* output, int run) {
  const size_t element_bytes = ElementBytes(output->dtype);
  const unsigned char* found = (const unsigned char*)output->data;
  const unsigned char* expected = (const unsigned char*)output->expected;
  const int equal_bits = !(model_case.rtol > 0) && !(model_case.atol > 0);
  unsigned long wrong = 0, first = 0;
  size_t offset;
  if (expected == NULL) return 0;
  if (element_bytes == 0) {
    ReportOutput(output);
    Report(" is of the dtype ");
    Report(output->dtype);
    Report(", which cannot be compared\n");
    return 1;
  }
  for (offset = 0; offset < output->size_bytes; offset += element_bytes) {
    if (memcmp(found + offset, expected + offset, element_bytes) == 0) continue;
    if (!equal_bits && IsClose(ElementValue(output->dtype, found + offset),
                               ElementValue(output->dtype, expected + offset)))
      continue;
    if (wrong++ == 0) first = (unsigned long)(offset / element_bytes);
  }
  if (wrong != 0) {
    ReportOutput(output);
    Report(" in run ");
    ReportNumber(run + 1);
    Report(": ");
    ReportNumber((double)wrong);
    Report(" of ");
    ReportNumber((double)(output->size_bytes / element_bytes));
    Report(" values differ, the first at ");
    ReportNumber((double)first);
    Report(": found ");
    ReportNumber(ElementValue(output->dtype, found + first * element_bytes));
    Report(", wanted ");
    ReportNumber(ElementValue(output->dtype, expected + first * element_bytes));
    Report("\n");
  }
  return wrong;
}

int main(void) {
  unsigned long wrong = 0;
  int run, i;
  for (run = 0; run < NUM_RUNS; ++run) {
    const char* error;
    for (i = 0; i < model_case.num_outputs; ++i) {
      memset(model_case.outputs[i].data, GARBAGE, model_case.outputs[i].size_bytes);
    }
    error = model_case.run(&model_case);
    if (error != NULL) {
      Report(model_case.module_name);
      Report(": run ");
      ReportNumber(run + 1);
      Report(" failed: ");
      Report(error);
      Report("\n");
      return 1;
    }
    for (i = 0; i < model_case.num_outputs; ++i) wrong += Compare(&model_case.outputs[i], run);
  }
  ReportInference();
  if (wrong != 0) return 1;
  Report(model_case.module_name);
  Report(": ");
  ReportNumber(model_case.num_outputs);
  Report(" outputs agree in ");
  ReportNumber(NUM_RUNS);
  Report(" runs\n");
  return 0;
}
