// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_TOOLS_KILN_STALE_FILES_H_
#define KILN_TOOLS_KILN_STALE_FILES_H_

#include <string>

#include "compiler/base/artifacts.h"

namespace kiln::tools {

// Says on standard error which sources and objects in `folder` a compilation of the same module
// with other options has left there, that `artifacts` do not replace: whoever links all that is in
// the folder links the model twice. Only what tells by its contents that Kiln has made it.
void NoteStaleFiles(const std::string& folder, const std::string& module_name,
                    const Artifacts& artifacts);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_STALE_FILES_H_
