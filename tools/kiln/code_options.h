// SPDX-License-Identifier: Apache-2.0
// The options of the command line that say what code is made of a model: those that compile and
// package have in common.
#ifndef KILN_TOOLS_KILN_CODE_OPTIONS_H_
#define KILN_TOOLS_KILN_CODE_OPTIONS_H_

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/options/options.h"
#include "tools/kiln/model_options.h"

namespace kiln::tools {

struct CodeFlags : ModelFlags {
  std::string module_name;
  std::string executor = "aot", runtime = "cpp", interface = "packed", calling_convention;
  std::string tuning;
  std::vector<std::string> pools, constant_pools;
  bool workspace_io = false;
  bool system_lib = false;
  bool profile = false;
  bool check_indices = false;
  bool fail_on_slow = false;
  std::string c_constants = "packed";
};

// The options of AddCompilationOptions and more. The help shows the values that `flags` has as the
// defaults.
void AddCodeOptions(CLI::App& command, CodeFlags& flags);

// InvalidArgument for a value that no option has, or a combination that is not legal.
absl::StatusOr<CompileOptions> CompileOptionsOf(const CodeFlags& flags);

// The files that the options name: what is compiled is made of them.
std::vector<std::string> InputFilesOf(const CodeFlags& flags);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_CODE_OPTIONS_H_
