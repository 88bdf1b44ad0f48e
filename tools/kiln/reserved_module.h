// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_TOOLS_KILN_RESERVED_MODULE_H_
#define KILN_TOOLS_KILN_RESERVED_MODULE_H_

#include "metadata/metadata.pb.h"

namespace kiln::tools {

// Notes on standard error the C name of a module's TVMModel if it cannot have the module's name:
// "int_" for the module "int". Other names in the header begin with "tvmgen_" and the module's own
// name.
void NoteReservedModule(const proto::Metadata& metadata);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_RESERVED_MODULE_H_
