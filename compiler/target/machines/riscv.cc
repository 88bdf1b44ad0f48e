// SPDX-License-Identifier: Apache-2.0
#include "compiler/target/machines/rows.h"

namespace kiln::machines {
namespace {

constexpr Machine kRiscV[] = {
    {.name = "riscv32",
     .cpus = "generic-rv32",
     .measured_on = "instructions that QEMU counts for an RV32IMAC (tests/firmware)"},
    {.name = "riscv", .cpus = "", .measured_on = "estimated"},
};

}  // namespace

absl::Span<const Machine> RiscV() { return kRiscV; }

}  // namespace kiln::machines
