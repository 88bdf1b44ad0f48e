// SPDX-License-Identifier: Apache-2.0
#include "compiler/target/float_units.h"

#include "absl/strings/match.h"

namespace kiln {

bool HasDoubles(const Target& target) {
  if (!target.is_baremetal()) return true;
  if (absl::StartsWith(target.triple, "riscv")) return target.has_fpu && target.HasFeature("d");
  const bool is_arm =
      absl::StartsWith(target.triple, "arm") || absl::StartsWith(target.triple, "thumb");
  return !is_arm || (target.has_fpu && target.HasFeature("fp64"));
}

bool FusesMultiplyAdd(const Target& target, DType dtype) {
  return dtype.is_float() && target.has_fma && (dtype.bits <= 32 || HasDoubles(target));
}

}  // namespace kiln
