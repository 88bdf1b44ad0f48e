// SPDX-License-Identifier: Apache-2.0
// The rows of tuned numbers (compiler/target/machine.h) that compilations use, for people and
// programs.
#ifndef KILN_TOOLS_KILN_MACHINE_ROWS_H_
#define KILN_TOOLS_KILN_MACHINE_ROWS_H_

#include <string>
#include <vector>

#include "compiler/target/target.h"
#include "metadata/metadata.pb.h"
#include "nlohmann/json.hpp"
#include "tools/terminal/table.h"

namespace kiln::tools {

// Returns "sapphire-rapids (a virtual machine with 2 CPUs of an Intel Xeon …)".
std::string MachineText(const Machine& machine);
// Returns name and measured_on of the row.
nlohmann::ordered_json MachineJson(const Machine& machine);

// Returns a line for each target: "machine: x86-64 (estimated)". If there are several targets, the
// lines name them.
std::string MachineLines(const std::vector<Target>& targets);
// Returns an array with the rows of the targets and their names.
nlohmann::ordered_json MachineLinesJson(const std::vector<Target>& targets);

// Returns the targets of a compiled library. Empty if it was compiled for a host, whose processor
// the metadata do not name.
std::vector<Target> TargetsOf(const proto::Metadata& metadata);

// Returns all rows, with the known targets and the processors that use them.
Table MachineTable();
nlohmann::ordered_json MachineTableJson();

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_MACHINE_ROWS_H_
