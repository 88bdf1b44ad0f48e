// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/board_model.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/pipeline/compile.h"
#include "tools/kiln/model_library.h"
#include "tools/validate/board_run.h"

namespace kiln::tools {

absl::StatusOr<CompileOptions> OptionsToRun(const ModelFlags& flags, std::string module_name) {
  CompileOptions options{.module_name = std::move(module_name)};
  KILN_RETURN_IF_ERROR(ApplyModelFlags(flags, options));
  if (options.target.is_baremetal()) {
    options.runtime = Runtime::kCrt;
    options.interface = Interface::kC;
    KILN_RETURN_IF_ERROR(FindBoard(options.target.name).status());
  }
  options.calling_convention =
      DefaultCallingConvention(options.runtime, options.interface, options.externals);
  KILN_RETURN_IF_ERROR(CheckOptions(options));
  return options;
}

absl::StatusOr<mlf::Module> CompileForBoard(const Graph& graph, const CompileOptions& options) {
  KILN_ASSIGN_OR_RETURN(const Compiled compiled, Compile(graph, options));
  KILN_ASSIGN_OR_RETURN(mlf::ModelLibrary library, ModelLibraryOf(graph, compiled, false));
  return std::move(library.modules.front());
}

absl::StatusOr<std::vector<Tensor>> RunOnceOnBoard(const Graph& graph,
                                                   const CompileOptions& options,
                                                   const std::vector<Tensor>& inputs) {
  KILN_ASSIGN_OR_RETURN(const mlf::Module module, CompileForBoard(graph, options));
  KILN_ASSIGN_OR_RETURN(const Board board, FindBoard(options.target.name));
  const int wanted = module.metadata.functions(0).num_inputs();
  if (static_cast<size_t>(wanted) != inputs.size()) {
    return absl::UnimplementedError(
        absl::StrCat("on a board a model that keeps its state is called with ", wanted, " of its ",
                     inputs.size(), " inputs; leave --state out, so that the state is an input"));
  }
  std::vector<Samples> samples;
  for (const Tensor& input : inputs) samples.push_back({input.type(), 1, input.bytes()});
  KILN_ASSIGN_OR_RETURN(const BoardRun run, RunOnBoard(module, board, samples, {}));
  std::vector<Tensor> outputs;
  for (const Samples& output : run.outputs) outputs.emplace_back(output.type, output.bytes);
  return outputs;
}

}  // namespace kiln::tools
