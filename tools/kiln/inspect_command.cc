// SPDX-License-Identifier: Apache-2.0
// kiln inspect
#include <cstdio>
#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "compiler/base/status.h"
#include "compiler/compile.h"
#include "runtime_cpp/metadata.h"
#include "tools/kiln/commands.h"
#include "tools/kiln/files.h"
#include "tools/kiln/library.h"
#include "tools/kiln/load_model.h"

namespace kiln::tools {
namespace {

struct InspectFlags {
  std::string file, target = "host";
  std::vector<std::string> inputs;
};

void PrintTensors(const char* title, const std::vector<std::string>& lines) {
  std::printf("%s:\n", title);
  for (const std::string& line : lines) std::printf("  %s\n", line.c_str());
}

absl::Status InspectLibrary(const std::string& path) {
  KILN_ASSIGN_OR_RETURN(const auto executor, LoadLibrary(path));
  std::vector<std::string> lines;
  for (const auto& info : executor->input_infos())
    lines.push_back(absl::StrCat(info.name, " ", TypeOf(info).ToString()));
  PrintTensors("inputs", lines);
  lines.clear();
  for (const auto& info : executor->output_infos())
    lines.push_back(absl::StrCat(info.name, " ", TypeOf(info).ToString()));
  PrintTensors("outputs", lines);
  std::printf("executor %s, workspace %lld bytes\n",
              std::string(executor->program().executor()).c_str(),
              static_cast<long long>(executor->program().workspace_bytes()));
  return absl::OkStatus();
}

absl::Status InspectModel(const InspectFlags& flags) {
  KILN_ASSIGN_OR_RETURN(const Graph graph, LoadModel(flags.file, flags.inputs));
  CompileOptions options;
  KILN_ASSIGN_OR_RETURN(options.target, Target::Parse(flags.target));
  KILN_ASSIGN_OR_RETURN(const Stages stages, RunStages(graph, options));
  const proto::Function& main = stages.metadata.functions(0);
  std::vector<std::string> inputs, outputs, functions;
  for (int i = 0; i < main.parameters_size(); ++i) {
    const proto::Parameter& p = main.parameters(i);
    const Shape shape(p.shape().begin(), p.shape().end());
    (i < main.num_inputs() ? inputs : outputs)
        .push_back(absl::StrCat(p.relay_name_hint(), " ", ShapeToString(shape), " ", p.dtype(),
                                ", ", p.size_bytes(), " bytes"));
  }
  PrintTensors("inputs", inputs);
  PrintTensors("outputs", outputs);
  for (const LoweredCall& call : stages.lowered.calls) {
    functions.push_back(call.function.empty()
                            ? absl::StrCat("view: ", call.op_names)
                            : absl::StrCat(call.op_names, "  [", call.schedule, "]",
                                           call.source.empty() ? "" : "  " + call.source));
  }
  PrintTensors("operators", functions);
  std::printf("constants: %lld bytes\n", static_cast<long long>(main.constant_size_bytes()));
  std::printf("memory plan: %s", ToString(stages.plan).c_str());
  return absl::OkStatus();
}

}  // namespace

void AddInspectCommand(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "inspect",
      "Show inputs, outputs, operators, memory plan and constants of a library or model");
  auto flags = std::make_shared<InspectFlags>();
  command->add_option("file", flags->file, "Shared object or model file")->required();
  command->add_option("--target", flags->target, "Of a model: what it would be compiled for")
      ->capture_default_str();
  command->add_option("--input", flags->inputs, "Of a model: shape of an input, name:1x3x224x224");
  command->footer(
      "Examples:\n  kiln inspect out/my_mod.so\n  kiln inspect model.onnx --target cortex-m4f");
  command->callback([flags, &action] {
    action = [flags]() -> absl::Status {
      KILN_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(flags->file, int64_t{4} << 30));
      return absl::StartsWith(bytes,
                              "\x7f"
                              "ELF")
                 ? InspectLibrary(flags->file)
                 : InspectModel(*flags);
    };
  });
}

}  // namespace kiln::tools
