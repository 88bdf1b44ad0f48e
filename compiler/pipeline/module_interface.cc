// SPDX-License-Identifier: Apache-2.0
#include "compiler/pipeline/module_interface.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/base/module_prefix.h"
#include "compiler/executor/external_functions.h"

namespace kiln {

ModuleInterface InterfaceOf(const Plan& plan, const std::vector<ExternalModule>& modules,
                            const CompileOptions& options) {
  ModuleInterface interface;
  interface.prefix = ModulePrefix(options.module_name);
  interface.entry = options.interface == Interface::kPacked ? loop::Convention::kPacked
                                                            : loop::Convention::kUnpacked;
  interface.operators = options.calling_convention == CallingConvention::kUnpacked
                            ? loop::Convention::kUnpacked
                            : loop::Convention::kPacked;
  if (options.executor == Executor::kGraph) return interface;
  interface.has_static_workspace =
      options.runtime == Runtime::kCrt &&
      std::any_of(plan.pools.begin(), plan.pools.end(), [](const PlanPool& pool) {
        return !pool.is_state && !pool.external && pool.size_bytes > 0;
      });
  interface.devices = DeviceUses(modules);
  interface.main_function =
      absl::StrCat(interface.prefix, interface.is_packed() ? "___tvm_main__" : "_run_model");
  interface.model_function = interface.is_packed() ? interface.prefix + "_run_model"
                             : interface.has_static_workspace
                                 ? interface.prefix + "_run_with_workspace"
                                 : interface.main_function;
  return interface;
}

}  // namespace kiln
