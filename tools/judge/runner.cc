// SPDX-License-Identifier: Apache-2.0
#include "tools/judge/runner.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "compiler/base/status.h"
#include "runtime_cpp/ndarray.h"
#include "tools/kiln/board_model.h"
#include "tools/kiln/loaded_model.h"

namespace kiln::tools {

absl::StatusOr<std::vector<Tensor>> Runner::RunOnce(const std::vector<Tensor>& inputs) const {
  std::vector<Samples> samples;
  for (const Tensor& input : inputs) samples.push_back({input.type(), 1, input.bytes()});
  KILN_ASSIGN_OR_RETURN(const SampleRun result, run(samples));
  std::vector<Tensor> tensors;
  for (const Samples& output : result.outputs) tensors.emplace_back(output.type, output.bytes);
  return tensors;
}

absl::StatusOr<std::vector<Samples>> RunSamples(runtime::Executor& executor,
                                                const std::map<int, Samples>& inputs) {
  const int64_t count = inputs.empty() ? 1 : inputs.begin()->second.count;
  std::vector<Samples> outputs;
  for (const runtime::TensorInfo& info : executor.output_infos()) {
    outputs.push_back({.type = TypeOf(info), .count = count, .bytes = ""});
  }
  for (int64_t s = 0; s < count; ++s) {
    for (const auto& [index, samples] : inputs) {
      KILN_ASSIGN_OR_RETURN(const runtime::NDArray array, executor.GetInput(index));
      KILN_RETURN_IF_ERROR(array.CopyFromBytes(samples.sample(s)));
    }
    KILN_RETURN_IF_ERROR(executor.Run());
    for (int i = 0; i < executor.num_outputs(); ++i) {
      KILN_ASSIGN_OR_RETURN(const runtime::NDArray array, executor.GetOutput(i));
      const absl::Span<char> bytes = array.values<char>();
      outputs[static_cast<size_t>(i)].bytes.append(bytes.data(), bytes.size());
    }
  }
  return outputs;
}

Runner LibraryRunner(const Library& library, std::string where) {
  Runner runner = {.where = std::move(where)};
  std::vector<int> indices;
  const runtime::Executor& executor = *library.executor;
  for (int i = 0; i < executor.num_inputs(); ++i) {
    if (executor.IsParam(i)) continue;
    const runtime::TensorInfo& info = executor.input_infos()[static_cast<size_t>(i)];
    runner.inputs.push_back({info.name, TypeOf(info)});
    indices.push_back(i);
  }
  for (const runtime::TensorInfo& info : executor.output_infos()) {
    runner.outputs.push_back({info.name, TypeOf(info)});
  }
  runner.run = [library, indices](const std::vector<Samples>& inputs) -> absl::StatusOr<SampleRun> {
    std::map<int, Samples> by_index;
    for (size_t i = 0; i < inputs.size(); ++i) by_index[indices[i]] = inputs[i];
    SampleRun run;
    KILN_ASSIGN_OR_RETURN(run.outputs, RunSamples(*library.executor, by_index));
    return run;
  };
  return runner;
}

absl::StatusOr<Runner> BoardRunner(const mlf::Module& module, const BoardOptions& options) {
  KILN_RETURN_IF_ERROR(CheckForBoard(module));
  KILN_ASSIGN_OR_RETURN(const Board board, FindBoard(module.metadata.target()));
  Runner runner = {.where = absl::StrCat("on ", board.target, " in QEMU")};
  const proto::Function& main = module.metadata.functions(0);
  for (int i = 0; i < main.parameters_size(); ++i) {
    const proto::Parameter& parameter = main.parameters(i);
    Port port = {parameter.relay_name_hint(), {}};
    port.type.shape.assign(parameter.shape().begin(), parameter.shape().end());
    KILN_ASSIGN_OR_RETURN(port.type.dtype, DType::Parse(parameter.dtype()));
    (i < main.num_inputs() ? runner.inputs : runner.outputs).push_back(std::move(port));
  }
  runner.run = [module, board,
                options](const std::vector<Samples>& inputs) -> absl::StatusOr<SampleRun> {
    KILN_ASSIGN_OR_RETURN(BoardRun run, RunOnBoard(module, board, inputs, options));
    return SampleRun{std::move(run.outputs), std::move(run.instructions)};
  };
  return runner;
}

absl::StatusOr<Runner> CompileRunner(const Graph& graph, const CompileOptions& options,
                                     const BoardOptions& board) {
  if (options.target.is_baremetal()) {
    KILN_ASSIGN_OR_RETURN(const mlf::Module module, CompileForBoard(graph, options));
    return BoardRunner(module, board);
  }
  KILN_ASSIGN_OR_RETURN(const LoadedModel loaded, LoadedModel::Make(graph, options));
  return LibraryRunner(loaded.library(),
                       absl::StrCat("on this machine (", options.target.name, ")"));
}

}  // namespace kiln::tools
