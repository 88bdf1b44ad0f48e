// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_TOOLS_KILN_RESERVED_MODULE_H_
#define KILN_TOOLS_KILN_RESERVED_MODULE_H_

#include "metadata/metadata.pb.h"

namespace kiln::tools {

// Says on standard error what the TVMModel of a module is called in C if it cannot have the name of
// the module: "int_" for the module "int". Other names of the header begin with "tvmgen_" and the
// module's own name.
void NoteReservedModule(const proto::Metadata& metadata);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_RESERVED_MODULE_H_
