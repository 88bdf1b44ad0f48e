// SPDX-License-Identifier: Apache-2.0
#include "compiler/target/machines/rows.h"

namespace kiln::machines {
namespace {

constexpr Machine kAArch64[] = {
    {.name = "neoverse",
     .cpus = "neoverse-512tvb,neoverse-e1,neoverse-n1,neoverse-n2,neoverse-n3,neoverse-v1,"
             "neoverse-v2,neoverse-v3,neoverse-v3ae",
     .measured_on = "instructions that qemu-user counts for int8 products; times are estimated"},
    {.name = "aarch64", .cpus = "", .measured_on = "estimated"},
};

}  // namespace

absl::Span<const Machine> AArch64() { return kAArch64; }

}  // namespace kiln::machines
