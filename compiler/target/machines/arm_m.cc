// SPDX-License-Identifier: Apache-2.0
#include "compiler/target/machines/rows.h"

namespace kiln::machines {
namespace {

// QEMU lacks some cores. Their code was counted on a core that runs the same code.
constexpr Machine kArm[] = {
    {.name = "cortex-m4",
     .cpus = "cortex-m4",
     .measured_on = "instructions that QEMU counts for a Cortex-M4 (tests/firmware)"},
    {.name = "cortex-m7",
     .cpus = "cortex-m7",
     .measured_on = "instructions that QEMU counts for a Cortex-M7 (tests/firmware)"},
    {.name = "cortex-m33",
     .cpus = "cortex-m33,cortex-m35p",
     .measured_on = "instructions that QEMU counts for a Cortex-M33 (tests/firmware)"},
    {.name = "cortex-m55",
     .cpus = "cortex-m52,cortex-m55,cortex-m85",
     .measured_on = "instructions that QEMU counts for a Cortex-M55 (tests/firmware)"},
    {.name = "cortex-m",
     .cpus = "cortex-m0,cortex-m0plus,cortex-m1,cortex-m23,cortex-m3",
     .measured_on = "instructions that QEMU counts for a Cortex-M3 (tests/firmware)"},
    {.name = "arm", .cpus = "", .measured_on = "estimated"},
};

}  // namespace

absl::Span<const Machine> Arm() { return kArm; }

}  // namespace kiln::machines
