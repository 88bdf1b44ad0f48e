// SPDX-License-Identifier: Apache-2.0
#include "compiler/target/machine.h"

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/types/span.h"
#include "compiler/target/machines/rows.h"

namespace kiln {
namespace {

// The rows of the triples that begin with a prefix.
struct MachineFamily {
  absl::string_view prefix;
  absl::Span<const Machine> (*rows)();
};

// "arm64" stands before "arm".
constexpr MachineFamily kMachineFamilies[] = {
    {"x86_64", machines::X86}, {"aarch64", machines::AArch64}, {"arm64", machines::AArch64},
    {"arm", machines::Arm},    {"thumb", machines::Arm},       {"riscv", machines::RiscV},
};

}  // namespace

std::vector<const Machine*> Machines() {
  std::vector<const Machine*> all;
  for (const auto& rows : {machines::X86(), machines::AArch64(), machines::Arm(), machines::RiscV(),
                           absl::MakeConstSpan(&kUnknownMachine, 1)}) {
    for (const Machine& row : rows) all.push_back(&row);
  }
  return all;
}

const Machine& MachineOf(absl::string_view triple, absl::string_view cpu) {
  for (const MachineFamily& family : kMachineFamilies) {
    if (!absl::StartsWith(triple, family.prefix)) continue;
    for (const Machine& row : family.rows()) {
      if (row.cpus.empty() || absl::c_linear_search(absl::StrSplit(row.cpus, ','), cpu)) return row;
    }
  }
  return kUnknownMachine;
}

}  // namespace kiln
