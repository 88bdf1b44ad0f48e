// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_COMPILER_PIPELINE_MODULE_INTERFACE_H_
#define KILN_COMPILER_PIPELINE_MODULE_INTERFACE_H_

#include <string>
#include <vector>

#include "compiler/executor/device_hooks.h"
#include "compiler/external/external_module.h"
#include "compiler/loop/loop.h"
#include "compiler/options/options.h"
#include "compiler/plan/plan.h"

namespace kiln {

// The entries of the module, and the owner of the memory that it computes in. The metadata and the
// program are both made from it.
struct ModuleInterface {
  std::string prefix;  // of every symbol: "tvmgen_my_mod"
  // Conventions of the entry and of the operator functions. kPacked: the runtimes find the
  // functions by name. kUnpacked: they take plain pointers.
  loop::Convention entry = loop::Convention::kPacked;
  loop::Convention operators = loop::Convention::kPacked;
  // The module has a workspace of its own, so that its entry must not run twice at once. Callers
  // with another workspace call `model_function`.
  bool has_static_workspace = false;
  std::vector<DeviceUse> devices;  // their contexts are the last parameters of the entry
  std::string main_function;       // the entry; empty with the graph executor
  std::string model_function;      // the function that calls the operators, or the device hooks

  bool is_packed() const { return entry == loop::Convention::kPacked; }
};

ModuleInterface InterfaceOf(const Plan& plan, const std::vector<ExternalModule>& modules,
                            const CompileOptions& options);

}  // namespace kiln

#endif  // KILN_COMPILER_PIPELINE_MODULE_INTERFACE_H_
