// SPDX-License-Identifier: Apache-2.0
#include "compiler/pipeline/externals.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/evaluate/evaluate.h"
#include "compiler/external/generate.h"
#include "compiler/external/partition.h"
#include "compiler/lower/lower.h"

namespace kiln {
namespace {

// InvalidArgument if a module cannot be linked, unless kPacked looks its functions up by name.
absl::Status CheckConvention(const CompileOptions& options,
                             const std::vector<ExternalModule>& modules) {
  if (options.calling_convention == CallingConvention::kPacked) return absl::OkStatus();
  for (const ExternalModule& module : modules) {
    if (module.is_linkable()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("module '", module.name(), "' (", module.type_key,
                     ") and --calling-convention cpacked do not go together: its functions are no "
                     "symbols that a linker finds; use --calling-convention packed"));
  }
  return absl::OkStatus();
}

}  // namespace

PassContext PassContextOf(const CompileOptions& options, const Target& target) {
  std::vector<const ExternalCodegen*> codegens;
  for (const ExternalChoice& choice : options.externals) codegens.push_back(choice.codegen);
  Partitioner partition = nullptr;
  if (!codegens.empty()) {
    partition = [codegens, name = options.module_name](const Graph& graph) {
      return Partition(graph, name, codegens);
    };
  }
  return {.target = target,
          .evaluate = EvaluateAllConstants,
          .partition = std::move(partition),
          .work = WorkOfNode,
          .check_indices = options.check_indices,
          .for_size = options.schedule.optimize == Optimize::kSize,
          .for_ram = options.schedule.optimize == Optimize::kRam,
          .keeps_state = options.interface == Interface::kC};
}

absl::StatusOr<std::vector<ExternalModule>> MakeExternalModules(const Graph& fused,
                                                                const CompileOptions& options) {
  KILN_ASSIGN_OR_RETURN(
      std::vector<ExternalModule> modules,
      GenerateExternalModules(
          fused, options.externals,
          {.module_name = options.module_name,
           .packed = options.calling_convention != CallingConvention::kUnpacked,
           .loader_pointers = options.runtime == Runtime::kCpp && !options.system_lib}));
  KILN_RETURN_IF_ERROR(options.runtime == Runtime::kCrt ? CheckModulesForCrt(modules)
                                                        : CheckConvention(options, modules));
  return modules;
}

Artifacts ExternalSources(const CompileOptions& options, const std::vector<ExternalModule>& modules,
                          const std::string& device_hooks) {
  Artifacts artifacts;
  // A file without declarations is not valid C.
  const auto add_empty = [&](const std::string& suffix, absl::string_view why) {
    artifacts[absl::StrCat(options.module_name, "_", suffix, ".c")] = absl::StrCat(
        "/* ", why, " */\ntypedef int tvmgen_", options.module_name, "_", suffix, "_end;\n");
  };
  bool uses_devices = false;
  for (const ExternalChoice& choice : options.externals) {
    const std::string& name = choice.codegen->name;
    uses_devices = uses_devices || !choice.device.empty();
    add_empty(name, absl::StrCat("The external code generator ", name,
                                 " makes no C: its modules travel in the library."));
  }
  if (uses_devices) add_empty("devices", "Nothing runs on a device.");
  for (const ExternalModule& module : modules) {
    if (!module.is_linkable()) continue;
    artifacts[absl::StrCat(options.module_name, "_", module.codegen, ".c")] = module.c_source;
  }
  if (!device_hooks.empty()) {
    artifacts[options.module_name + "_devices.c"] = device_hooks;
  }
  return artifacts;
}

}  // namespace kiln
