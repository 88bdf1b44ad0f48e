// SPDX-License-Identifier: Apache-2.0
//
// Measures the stack of inferences. What counts instructions knows these functions by their
// symbols.
#include <stdint.h>

#include "runtime_crt/platform/bare_metal/stack_usage.h"
#include "tools/model_test/model_case.h"
#include "tools/model_test/report.h"

static uint32_t used_before, used_after;

// From the top of the stack to here.
__attribute__((noinline)) void BeginInference(void) {
  used_before = StackBytesAbove(__builtin_frame_address(0));
  PaintStack();
  // No jump in the place of a call: this function must be where the counting begins.
  __asm__ volatile("");
}

__attribute__((noinline)) void EndInference(void) {
  const uint32_t used = StackUsedBytes();
  if (used > used_after) used_after = used;
  __asm__ volatile("");
}

void ReportInference(void) {
  Report("stack: ");
  ReportNumber((double)(used_after - used_before));
  Report(" bytes\n");
}
