// SPDX-License-Identifier: Apache-2.0
// `__tvm_dev_mblob`: the modules that a shared object carries besides its code. The C++ runtime
// reads them when it loads the object. Format: docs/abi.md.
#ifndef KILN_COMPILER_EXECUTOR_MODULE_BLOB_H_
#define KILN_COMPILER_EXECUTOR_MODULE_BLOB_H_

#include <string>
#include <vector>

#include "compiler/external/external_module.h"

namespace kiln {

// The library imports the modules of external code generators that are not linkable. If one of them
// needs constants, a const_loader imports them, and the library imports only the const_loader.

// AotExecutorFactory -> metadata_module -> the library.
std::string AotModuleBlob(const std::string& module_name,
                          const std::vector<ExternalModule>& externals = {});
// GraphExecutorFactory -> the library.
std::string GraphModuleBlob(const std::string& module_name, const std::string& graph_json,
                            const std::vector<ExternalModule>& externals = {});

}  // namespace kiln

#endif  // KILN_COMPILER_EXECUTOR_MODULE_BLOB_H_
