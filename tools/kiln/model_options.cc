// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/model_options.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "compiler/backend/backend.h"
#include "compiler/base/status.h"
#include "compiler/options/options.h"
#include "compiler/target/cpu_variants.h"
#include "tools/kiln/help_format.h"
#include "tools/kiln/list_option.h"
#include "tools/kiln/target_option.h"

namespace kiln::tools {

void AddInputOptions(CLI::App& command, InputFlags& flags) {
  command.add_option("--input", flags.shapes, "Shape of an input: name:1x3x224x224[:dtype]");
  command.add_option("--dim", flags.dims,
                     "Size of an open dimension, by its name in the model: seq=128");
  command.add_option("--outputs", flags.outputs,
                     "End the model at a value of this name, or at what an operator makes");
  command.add_option("--constant", flags.constants,
                     "Value of an input that is fixed and so none any more: name=16000, "
                     "name=1,2,3 or name=FILE (.npy or ONNX .pb)");
  SetGroups(command, {{"Model", {"--input", "--dim", "--outputs", "--constant"}}});
}

void AddStateOption(CLI::App& command, InputFlags& flags) {
  command.add_option("--state", flags.states,
                     "An input that is the output of the run before, 0 in the first: input=output; "
                     "the C interface keeps it itself");
  SetGroups(command, {{"Model", {"--state"}}});
}

void AddAllowOption(CLI::App& command, std::vector<std::string>& allowed) {
  AddListOption(command, "--allow", allowed,
                "What may change results for speed; bf16: constants and what they are multiplied "
                "with are rounded to bfloat16 where the CPU has an instruction that is faster");
}

void AddModelOptions(CLI::App& command, ModelFlags& flags) {
  command.add_option("model", flags.model, "Model file")->required();
  AddCompilationOptions(command, flags);
}

void AddCompilationOptions(CLI::App& command, ModelFlags& flags) {
  AddInputOptions(command, flags.inputs);
  AddStateOption(command, flags.inputs);
  command.add_option(
      "--codegen", flags.codegen,
      absl::StrCat("llvm or c (default: ",
                   flags.codegen.empty() ? "llvm where it is built in" : flags.codegen, ")"));
  command.add_option(
      "--target", flags.target,
      "host, x86-64-v3, cortex-m4f, an LLVM triple with -mcpu= and -mattr=, … [host]");
  AddListOption(command, "--cpu-variants", flags.cpu_variants,
                "Instead of --target: several, lowest first, in one library that runs the best "
                "that the CPU has: x86-64-v2,x86-64-v3,x86-64-v4");
  AddListOption(command, "--external", flags.externals,
                "External code generators, in order of priority: csource,dnnl; "
                "csource:device=npu calls the hooks of a device");
  command.add_option("--passes", flags.passes, "Passes to switch off: -fuse,-convert-layout");
  command
      .add_option("--threads", flags.threads,
                  "Threads of a parallel loop; 0: as the runtime decides, 1: serial code")
      ->capture_default_str();
  command
      .add_option("--optimize", flags.optimize,
                  "What code is made for: speed, size, where copies of loops for borders and tails "
                  "go, balanced, or ram, where the workspace is as small as can be")
      ->capture_default_str();
  command.add_flag("--no-winograd", flags.no_winograd,
                   "No convolutions by Winograd's filtering, which is faster and has errors a few "
                   "times as large as those of direct sums");
  AddAllowOption(command, flags.allowed);
  command.add_flag("--no-overlap", flags.no_overlap,
                   "Firmware: no output reaches into an input of its operator, which makes the "
                   "workspace smaller");
  SetGroups(command, {{"Model", {"--passes"}},
                      {"Machine and speed",
                       {"--target", "--cpu-variants", "--codegen", "--optimize", "--threads",
                        "--no-winograd", "--allow", "--external"}},
                      {"Memory", {"--no-overlap"}}});
}

bool SaysHowToCompile(const ModelFlags& flags) {
  return !flags.codegen.empty() || !flags.target.empty() || !flags.cpu_variants.empty() ||
         !flags.inputs.empty() || !flags.externals.empty() || !flags.passes.empty() ||
         !flags.allowed.empty() || flags.optimize != "speed" || flags.no_winograd ||
         flags.no_overlap;
}

Codegen DefaultCodegen() { return HasCodegen(Codegen::kLlvm) ? Codegen::kLlvm : Codegen::kC; }

absl::Status ApplyModelFlags(const ModelFlags& flags, CompileOptions& o) {
  KILN_ASSIGN_OR_RETURN(o.externals, ParseExternals(flags.externals));
  o.codegen = DefaultCodegen();
  if (!flags.codegen.empty()) {
    KILN_ASSIGN_OR_RETURN(o.codegen, ParseSpelling<Codegen>(flags.codegen));
  }
  if (!flags.cpu_variants.empty()) {
    KILN_ASSIGN_OR_RETURN(o.cpu_variants, ParseCpuVariants(flags.cpu_variants));
    o.target = o.cpu_variants.front();
  }
  if (!flags.target.empty() || o.cpu_variants.empty()) {
    KILN_ASSIGN_OR_RETURN(o.target, ParseTargetOption(flags.target));
  }
  o.threads = flags.threads;
  KILN_ASSIGN_OR_RETURN(o.schedule.optimize, ParseSpelling<Optimize>(flags.optimize));
  o.schedule.winograd = !flags.no_winograd;
  KILN_RETURN_IF_ERROR(Allow(flags.allowed, o));
  o.overlap = !flags.no_overlap;
  std::vector<absl::string_view> passes;
  if (!flags.passes.empty()) passes = absl::StrSplit(flags.passes, ',');
  for (absl::string_view pass : passes) {
    if (pass.size() < 2 || pass[0] != '-') {
      return absl::InvalidArgumentError(absl::StrCat(
          "--passes: found '", pass,
          "', wanted passes to switch off, each with a '-': --passes=-fuse,-convert-layout"));
    }
    o.passes.disabled.emplace_back(pass.substr(1));
  }
  return absl::OkStatus();
}

}  // namespace kiln::tools
