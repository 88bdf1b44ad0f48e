// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/code_options.h"

#include "compiler/base/status.h"
#include "compiler/options/options.h"
#include "tools/kiln/help_format.h"
#include "tools/kiln/load_model.h"
#include "tools/kiln/tuning_option.h"

namespace kiln::tools {

void AddCodeOptions(CLI::App& command, CodeFlags& flags) {
  AddCompilationOptions(command, flags);
  command.add_option("--module-name", flags.module_name,
                     "Name of the module, a C identifier (default: from the file's name)");
  command.add_option("--executor", flags.executor, "aot or graph")->capture_default_str();
  command.add_option("--runtime", flags.runtime, "cpp or crt")->capture_default_str();
  command.add_option("--interface", flags.interface, "packed or c")->capture_default_str();
  command.add_option("--calling-convention", flags.calling_convention,
                     "Of operator functions: packed, cpacked or unpacked");
  command.add_option("--tuning", flags.tuning,
                     "File of kiln tune: what was measured to be faster than the schedules that "
                     "the compiler chooses by itself");
  command.add_option("--pool", flags.pools,
                     "C runtime: memory of the application's for tensors between operators, "
                     "name:size[:alignment][:speed]; sram:64K:8:4, dram:any");
  command.add_option("--constant-pool", flags.constant_pools,
                     "C runtime: the same for constants, each a section .rodata.<name>");
  command.add_flag("--workspace-io", flags.workspace_io,
                   "C interface: place inputs and outputs in the workspace too, which is the "
                   "application's");
  command.add_flag(
      "--system-lib", flags.system_lib,
      "For the C++ runtime: make code to link, which registers itself, instead of a shared object");
  command.add_flag("--profile", flags.profile,
                   "AOT executor: tell the runtime when each operator begins and ends");
  command
      .add_option("--c-constants", flags.c_constants,
                  "C code: constants above 64 KiB packed as bytes, or elements, which machines "
                  "of another byte order need and a C compiler takes 400 bytes of memory for")
      ->capture_default_str();
  command.add_flag("--check-indices", flags.check_indices,
                   "Let the model fail, with a text that names operator and index, where an "
                   "index that it computes is out of range; else the nearest one is taken");
  command.add_flag("--fail-on-slow", flags.fail_on_slow,
                   "Microcontrollers: fail where an operator only has a slow path on the target, "
                   "such as floats without a floating-point unit, instead of a warning");
  SetGroups(command, {{"Output", {"--module-name"}},
                      {"Model", {"--check-indices"}},
                      {"Machine and speed", {"--tuning", "--profile", "--fail-on-slow"}},
                      {"Runtime and interface",
                       {"--runtime", "--interface", "--executor", "--calling-convention",
                        "--system-lib", "--c-constants"}},
                      {"Memory", {"--pool", "--constant-pool", "--workspace-io"}}});
}

absl::StatusOr<CompileOptions> CompileOptionsOf(const CodeFlags& flags) {
  CompileOptions o;
  o.module_name = flags.module_name.empty() ? DefaultModuleName(flags.model) : flags.module_name;
  KILN_ASSIGN_OR_RETURN(o.executor, ParseSpelling<Executor>(flags.executor));
  KILN_ASSIGN_OR_RETURN(o.runtime, ParseSpelling<Runtime>(flags.runtime));
  KILN_ASSIGN_OR_RETURN(o.interface, ParseSpelling<Interface>(flags.interface));
  KILN_RETURN_IF_ERROR(ApplyModelFlags(flags, o));
  o.calling_convention = DefaultCallingConvention(o.runtime, o.interface, o.externals);
  if (!flags.calling_convention.empty()) {
    KILN_ASSIGN_OR_RETURN(o.calling_convention,
                          ParseSpelling<CallingConvention>(flags.calling_convention));
  }
  o.workspace_io = flags.workspace_io;
  o.system_lib = flags.system_lib;
  o.profile = flags.profile;
  o.check_indices = flags.check_indices;
  KILN_ASSIGN_OR_RETURN(o.c_constants, ParseSpelling<CConstants>(flags.c_constants));
  if (!flags.tuning.empty()) {
    KILN_ASSIGN_OR_RETURN(o.schedule.tuning, ReadTuning(flags.tuning));
  }
  for (const std::string& text : flags.pools) {
    KILN_ASSIGN_OR_RETURN(o.pools.emplace_back(), ParsePool("pool", text));
  }
  for (const std::string& text : flags.constant_pools) {
    KILN_ASSIGN_OR_RETURN(o.constant_pools.emplace_back(), ParsePool("constant-pool", text));
  }
  KILN_RETURN_IF_ERROR(CheckOptions(o));
  return o;
}

std::vector<std::string> InputFilesOf(const CodeFlags& flags) {
  std::vector<std::string> files = FilesOf(flags.inputs);
  if (flags.model != kStandardInput) files.push_back(flags.model);
  if (!flags.tuning.empty()) files.push_back(flags.tuning);
  return files;
}

}  // namespace kiln::tools
