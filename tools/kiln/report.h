// SPDX-License-Identifier: Apache-2.0
// What `kiln inspect` shows of a module, from the metadata that the compiler has made or that a
// library brings along.
#ifndef KILN_TOOLS_KILN_REPORT_H_
#define KILN_TOOLS_KILN_REPORT_H_

#include <string>

#include "metadata/metadata.pb.h"
#include "runtime_cpp/metadata.h"

namespace kiln::tools {

// The metadata of a loaded library; nothing is lost on the way through its C structs.
proto::Metadata MetadataOf(const runtime::ModelMetadata& metadata);

// Tables of inputs, outputs, operators, constants, and the memory plan with its lower bound; at
// most `columns` wide if that is not 0.
std::string Report(const proto::Metadata& metadata, int columns);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_REPORT_H_
