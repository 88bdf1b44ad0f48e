// SPDX-License-Identifier: Apache-2.0
// Options of commands that run a shared object.
#ifndef KILN_TOOLS_KILN_LIBRARY_OPTIONS_H_
#define KILN_TOOLS_KILN_LIBRARY_OPTIONS_H_

#include <CLI/CLI.hpp>

#include "tools/kiln/library.h"

namespace kiln::tools {

// Adds --threads, --cpu-variant and --skip-checksum under the heading "Library". `load` and
// `threads` must outlive the command.
void AddLibraryOptions(CLI::App& command, LibraryFlags& load, int& threads);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_LIBRARY_OPTIONS_H_
