// SPDX-License-Identifier: Apache-2.0
#include "compiler/target/instructions/rows.h"

namespace kiln::instructions {

std::vector<DotInstruction> ArmM() {
  return {
      // Helium, the M-profile vector extension. VMLADAVA is another name of it.
      {.name = "vmlava.s8",
       .arch = "thumb,arm",
       .geometry = DotGeometry::kReduction,
       .group = 16,
       .a = kI8,
       .b = kI8,
       .widens_in_steps = false,
       .cost = 1,
       .llvm_operands = "000sab",
       .forms = {{1, "mve", "llvm.arm.mve.vmldava"}},
       .c = {.guard = "defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1)",
             .header = "arm_mve.h",
             .body = "return vmladavaq_s8(sum, vldrbq_s8((const int8_t*)a), "
                     "vldrbq_s8((const int8_t*)b));"}},
  };
}

}  // namespace kiln::instructions
