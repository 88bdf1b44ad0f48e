// SPDX-License-Identifier: Apache-2.0
#include "compiler/target/machines/rows.h"

namespace kiln::machines {
namespace {

constexpr Machine kX86[] = {
    {.name = "sapphire-rapids",
     .cpus = "cooperlake,emeraldrapids,sapphirerapids",
     .measured_on = "a virtual machine with 2 CPUs of an Intel Xeon (Sapphire Rapids)",
     // One vdpbf16ps starts in two cycles, and two multiply-adds in each cycle.
     .dots = {.bfloat_slots = 4}},
    {.name = "granite-rapids",
     .cpus = "graniterapids,graniterapids-d",
     .measured_on =
         "an Intel Xeon (Granite Rapids): AMX and prefetches; the other numbers are those of "
         "sapphire-rapids",
     .dots = {.bfloat_slots = 4}},
    {.name = "zen5",
     .cpus = "znver5",
     .measured_on = "an AMD EPYC (Zen 5): tiles and prefetches; the other numbers are those of "
                    "sapphire-rapids"},
    {.name = "zen4",
     .cpus = "znver4",
     .measured_on = "times of models and kernels on an AMD EPYC (Zen 4); the numbers are those of "
                    "sapphire-rapids"},
    {.name = "x86-64", .cpus = "", .measured_on = "estimated"},
};

}  // namespace

absl::Span<const Machine> X86() { return kX86; }

}  // namespace kiln::machines
