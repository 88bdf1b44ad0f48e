// SPDX-License-Identifier: Apache-2.0
//
// Measures the stack of inferences. The plugin that counts instructions finds these functions by
// their symbols.
#include <stdint.h>

#include "runtime_crt/platform/bare_metal/stack_usage.h"
#include "tools/model_test/model_case.h"
#include "tools/model_test/report.h"

static uint32_t used_before, used_after;

// Records the stack used from its top to this frame, and paints the rest.
__attribute__((noinline)) void BeginInference(void) {
  used_before = StackBytesAbove(__builtin_frame_address(0));
  PaintStack();
  // Prevents a tail call: this function must be the place at which counting begins.
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
