// SPDX-License-Identifier: Apache-2.0
// Report of `kiln inspect` on a module, from metadata of the compiler or of a library.
#ifndef KILN_TOOLS_KILN_REPORT_H_
#define KILN_TOOLS_KILN_REPORT_H_

#include <string>

#include "metadata/metadata.pb.h"
#include "runtime_cpp/metadata.h"

namespace kiln::tools {

// Returns the metadata of a loaded library. The C structs contain all of it.
proto::Metadata MetadataOf(const runtime::ModelMetadata& metadata);

// Returns tables of inputs, outputs, operators and constants, and the memory plan with its lower
// bound. They are at most `columns` wide if that is not 0.
std::string Report(const proto::Metadata& metadata, int columns);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_REPORT_H_
