// SPDX-License-Identifier: Apache-2.0
// Command line options for code generation that compile and package share.
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

// Adds the options of AddCompilationOptions and further ones. The help shows the values in `flags`
// as the defaults.
void AddCodeOptions(CLI::App& command, CodeFlags& flags);

// InvalidArgument for an unknown value or an illegal combination.
absl::StatusOr<CompileOptions> CompileOptionsOf(const CodeFlags& flags);

// Returns the paths of the files that the options name as input.
std::vector<std::string> InputFilesOf(const CodeFlags& flags);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_CODE_OPTIONS_H_
