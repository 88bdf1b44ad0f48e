// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_TOOLS_KILN_STALE_FILES_H_
#define KILN_TOOLS_KILN_STALE_FILES_H_

#include <string>

#include "compiler/base/artifacts.h"

namespace kiln::tools {

// Notes on standard error the sources and objects in `folder` that an earlier compilation of the
// same module with other options left there and that `artifacts` do not replace. Linking all files
// in the folder would link the model twice. Only files whose contents show that Kiln made them are
// noted.
void NoteStaleFiles(const std::string& folder, const std::string& module_name,
                    const Artifacts& artifacts);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_STALE_FILES_H_
