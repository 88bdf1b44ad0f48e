// SPDX-License-Identifier: Apache-2.0
// The system library: a model that is linked into a program of the C++ runtime. It registers its
// symbols when the program starts, under the names that the runtime looks up in a shared object.
#ifndef KILN_COMPILER_EXECUTOR_SYSTEM_LIB_H_
#define KILN_COMPILER_EXECUTOR_SYSTEM_LIB_H_

#include <string>

#include "compiler/loop/loop.h"

namespace kiln {

// Returns C source that registers the exported functions, getters and data of `program`. Their
// symbols begin with "tvmgen_<module>_". Names that a loader looks up are also registered without
// this prefix.
std::string SystemLibSource(const loop::LoopProgram& program, const std::string& module_name);

}  // namespace kiln

#endif  // KILN_COMPILER_EXECUTOR_SYSTEM_LIB_H_
