// SPDX-License-Identifier: Apache-2.0
// Flash, RAM, stack and arithmetic of each layer of a model on a microcontroller.
#ifndef KILN_TOOLS_KILN_LAYER_REPORT_H_
#define KILN_TOOLS_KILN_LAYER_REPORT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "metadata/metadata.pb.h"
#include "tools/kiln/object_report.h"

namespace kiln::tools {

// Returns the name of a layer. `source` has the names of the model's nodes; it may be empty. TFLite
// names a layer after everything that was fused into it, in reverse order.
std::string LayerName(const std::string& source, const std::string& function);

// Returns a table with a row for each call, named after its layer in the model, and with the
// totals. `macs` are keyed by function. `figures` has code sizes and stack of the model's object,
// if there is one. The table is at most `columns` wide if that is not 0.
std::string LayerReport(const proto::Metadata& metadata, const std::map<std::string, int64_t>& macs,
                        const std::optional<ObjectFigures>& figures, int columns);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_LAYER_REPORT_H_
