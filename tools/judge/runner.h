// SPDX-License-Identifier: Apache-2.0
// Runner: a model that runs samples in this process or on a board in QEMU.
//
//   KILN_ASSIGN_OR_RETURN(const Runner runner, CompileRunner(graph, options));
//   KILN_ASSIGN_OR_RETURN(const SampleRun run, runner.run(inputs));
//   run.outputs[0].sample(999)
#ifndef KILN_TOOLS_JUDGE_RUNNER_H_
#define KILN_TOOLS_JUDGE_RUNNER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/base/tensor.h"
#include "compiler/graph/graph.h"
#include "compiler/options/options.h"
#include "mlf/model_library.h"
#include "runtime_cpp/executor.h"
#include "tools/judge/samples.h"
#include "tools/kiln/library.h"
#include "tools/validate/board_run.h"

namespace kiln::tools {

// An input or output of a model.
struct Port {
  std::string name;
  TensorType type;
};

struct SampleRun {
  std::vector<Samples> outputs;       // in the model's order
  std::vector<int64_t> instructions;  // of each inference; empty if they are not counted
};

struct Runner {
  std::string where;                  // such as "on this machine (host)"
  std::vector<Port> inputs, outputs;  // in the model's order
  // Runs the model for every sample. All inputs have the same number of samples.
  std::function<absl::StatusOr<SampleRun>(const std::vector<Samples>& inputs)> run;

  // Runs the model once.
  absl::StatusOr<std::vector<Tensor>> RunOnce(const std::vector<Tensor>& inputs) const;
};

// Parameters of the library are no inputs of the runner.
Runner LibraryRunner(const Library& library, std::string where);

// InvalidArgument for a module that the firmware cannot call, NotFound for a target without a
// board.
absl::StatusOr<Runner> BoardRunner(const mlf::Module& module, const BoardOptions& options = {});

// Compiles the graph and runs it on the machine of the options' target: on a board for a
// microcontroller, otherwise here. OptionsToRun (tools/kiln/board_model.h) returns such options.
absl::StatusOr<Runner> CompileRunner(const Graph& graph, const CompileOptions& options,
                                     const BoardOptions& board = {});

// Runs a loaded model for every sample. `inputs` are keyed by index; other inputs keep their
// values.
absl::StatusOr<std::vector<Samples>> RunSamples(runtime::Executor& executor,
                                                const std::map<int, Samples>& inputs);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_JUDGE_RUNNER_H_
