// SPDX-License-Identifier: Apache-2.0
// What each layer of a model takes of a microcontroller: flash, RAM, stack and arithmetic.
#ifndef KILN_TOOLS_KILN_LAYER_REPORT_H_
#define KILN_TOOLS_KILN_LAYER_REPORT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "metadata/metadata.pb.h"
#include "tools/kiln/object_report.h"

namespace kiln::tools {

// What a layer is called: `source` are the names of the model's nodes, which may be none. TFLite names
// a layer by all that was fused into it, the last of these first.
std::string LayerName(const std::string& source, const std::string& function);

// A row for each call by the model's name of the layer, then the sums. `macs` are by function; the
// code and the stack are those of the model's object, where there is one. At most `columns` wide if
// that is not 0.
std::string LayerReport(const proto::Metadata& metadata, const std::map<std::string, int64_t>& macs,
                        const std::optional<ObjectFigures>& figures, int columns);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_LAYER_REPORT_H_
