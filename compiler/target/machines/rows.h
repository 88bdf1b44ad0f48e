// SPDX-License-Identifier: Apache-2.0
// The rows of every architecture, for compiler/target/machine.cc. The last row of each is for the
// processors that the others do not name.
#ifndef KILN_COMPILER_TARGET_MACHINES_ROWS_H_
#define KILN_COMPILER_TARGET_MACHINES_ROWS_H_

#include "absl/types/span.h"
#include "compiler/target/machine.h"

namespace kiln::machines {

absl::Span<const Machine> X86();
absl::Span<const Machine> AArch64();
absl::Span<const Machine> Arm();
absl::Span<const Machine> RiscV();

}  // namespace kiln::machines

#endif  // KILN_COMPILER_TARGET_MACHINES_ROWS_H_
