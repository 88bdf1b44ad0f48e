// SPDX-License-Identifier: Apache-2.0
// Command line options for the model and the machine that compile and tune share.
#ifndef KILN_TOOLS_KILN_MODEL_OPTIONS_H_
#define KILN_TOOLS_KILN_MODEL_OPTIONS_H_

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "compiler/options/options.h"
#include "tools/kiln/load_model.h"

namespace kiln::tools {

struct ModelFlags {
  std::string model, codegen, target, passes;
  InputFlags inputs;
  std::vector<std::string> externals, cpu_variants, allowed;
  std::string optimize = "speed";
  int threads = 0;
  bool no_winograd = false, no_overlap = false;
};

// Adds --input and --constant. In this file, `flags` must outlive `command`.
void AddInputOptions(CLI::App& command, InputFlags& flags);
// Adds --state, for commands that read a model to compile it.
void AddStateOption(CLI::App& command, InputFlags& flags);
// Adds --allow, whose values Allow (compiler/options) accepts.
void AddAllowOption(CLI::App& command, std::vector<std::string>& allowed);
// Adds the model and the options of AddCompilationOptions.
void AddModelOptions(CLI::App& command, ModelFlags& flags);
// Adds the options of a compilation, including those for inputs.
void AddCompilationOptions(CLI::App& command, ModelFlags& flags);

// True if an option is given that requires compiling the model.
bool SaysHowToCompile(const ModelFlags& flags);

// Returns the code generator if the command line names none: LLVM if it is built in.
Codegen DefaultCodegen();

// InvalidArgument for an unknown value.
absl::Status ApplyModelFlags(const ModelFlags& flags, CompileOptions& options);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_MODEL_OPTIONS_H_
