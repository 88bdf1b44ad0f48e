// SPDX-License-Identifier: Apache-2.0
// The options of the command line that say which model, and what for: those that compile and tune
// have in common.
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

// --input and --constant. `flags` has to live as long as `command`, here and below.
void AddInputOptions(CLI::App& command, InputFlags& flags);
// --state, of commands that read a model to compile it.
void AddStateOption(CLI::App& command, InputFlags& flags);
// --allow, whose values Allow (compiler/options) takes.
void AddAllowOption(CLI::App& command, std::vector<std::string>& allowed);
// The model, and what follows.
void AddModelOptions(CLI::App& command, ModelFlags& flags);
// How it is compiled, its inputs included.
void AddCompilationOptions(CLI::App& command, ModelFlags& flags);

// Whether an option is given that only a model that is compiled here can follow.
bool SaysHowToCompile(const ModelFlags& flags);

// That of a command line that names none: LLVM where it is built in.
Codegen DefaultCodegen();

// InvalidArgument for a value that none of them has.
absl::Status ApplyModelFlags(const ModelFlags& flags, CompileOptions& options);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_MODEL_OPTIONS_H_
