// SPDX-License-Identifier: Apache-2.0
// `__tvm_dev_mblob`: the modules that a shared object carries besides its code, as the C++ runtime
// reads them when it loads it. Format: docs/abi.md.
#ifndef KILN_COMPILER_EXECUTOR_MODULE_BLOB_H_
#define KILN_COMPILER_EXECUTOR_MODULE_BLOB_H_

#include <string>
#include <vector>

#include "compiler/external/external_module.h"

namespace kiln {

// Below the library come the modules of external code generators that are bytes; where one of them
// needs constants, a const_loader is between them.

// AotExecutorFactory -> metadata_module -> the library.
std::string AotModuleBlob(const std::string& module_name,
                          const std::vector<ExternalModule>& externals = {});
// GraphExecutorFactory -> the library.
std::string GraphModuleBlob(const std::string& module_name, const std::string& graph_json,
                            const std::vector<ExternalModule>& externals = {});

}  // namespace kiln

#endif  // KILN_COMPILER_EXECUTOR_MODULE_BLOB_H_
