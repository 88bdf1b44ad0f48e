// SPDX-License-Identifier: Apache-2.0
//
// A model with inputs that are set and outputs that are got: the same calls for both kinds of
// executor.
//
// The executor owns memory for inputs, outputs and workspace, allocated once when it is made. Use
// one per thread, or Model for runs without state. The calls by name of "Calls by name" below reach
// it from other languages.
//
//   absl::StatusOr<Module> factory = Module::LoadFromFile("my_mod.so");
//   absl::StatusOr<std::shared_ptr<Executor>> executor = Executor::Create(*factory, {kDLCPU, 0});
//   (*executor)->SetInput("x", x);
//   (*executor)->Run();
//   (*executor)->GetOutput(0);
#ifndef KILN_RUNTIME_CPP_EXECUTOR_H_
#define KILN_RUNTIME_CPP_EXECUTOR_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime_cpp/module.h"
#include "runtime_cpp/ndarray.h"
#include "runtime_cpp/params.h"
#include "runtime_cpp/profile.h"
#include "runtime_cpp/program.h"
#include "runtime_cpp/run_options.h"

namespace kiln::runtime {

class Executor {
 public:
  // An executor of the model that `factory` makes, with the factory's parameters set. NotFound,
  // naming the device, if it has no back end.
  static absl::StatusOr<std::shared_ptr<Executor>> Create(const Module& factory, DLDevice device);

  // An executor of a program. Inputs named in `params` start with these values, shared and not
  // copied.
  static absl::StatusOr<std::shared_ptr<Executor>> Create(std::shared_ptr<const Program> program,
                                                          const Params& params);

  // The executor behind a module that factory["my_mod"](device) has returned.
  static absl::StatusOr<std::shared_ptr<Executor>> FromModule(const Module& module);

  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  int num_outputs() const { return static_cast<int>(outputs_.size()); }
  const std::vector<TensorInfo>& input_infos() const { return program_->inputs(); }
  const std::vector<TensorInfo>& output_infos() const { return program_->outputs(); }
  const Program& program() const { return *program_; }

  // NotFound, with all names, if there is none of this name.
  absl::StatusOr<int> GetInputIndex(absl::string_view name) const;
  absl::StatusOr<int> GetOutputIndex(absl::string_view name) const;

  // Whether the input got its value from parameters.
  bool IsParam(int index) const { return inputs_[static_cast<size_t>(index)].is_param; }

  // Copies the elements. InvalidArgument, with what was found and wanted, if they do not fit.
  absl::Status SetInput(int index, const DLTensor& tensor);
  absl::Status SetInput(absl::string_view name, const DLTensor& tensor);

  // Uses the memory of `array` from the next run on; aligned as its TensorInfo says. A borrowed array
  // has to outlive its use.
  absl::Status SetInputZeroCopy(int index, const NDArray& array);
  absl::Status SetInputZeroCopy(absl::string_view name, const NDArray& array);
  absl::Status SetOutputZeroCopy(int index, const NDArray& array);
  absl::Status SetOutputZeroCopy(absl::string_view name, const NDArray& array);

  // The memory that the next run reads, or the last one has written; shared, not copied. Who gets
  // an input may fill it, so it counts as set.
  absl::StatusOr<NDArray> GetInput(int index);
  absl::StatusOr<NDArray> GetInput(absl::string_view name);
  absl::StatusOr<NDArray> GetOutput(int index) const;
  absl::StatusOr<NDArray> GetOutput(absl::string_view name) const;

  // Runs the model. FailedPrecondition, naming the inputs, if some were never set.
  absl::Status Run(const RunOptions& options = {});

  // Runs compute on the threads of `pool` instead of ThreadPool::Global(). Null: on those.
  void SetThreadPool(std::shared_ptr<ThreadPool> pool) { pool_ = std::move(pool); }

  // Inputs whose value in the next run is an output of this one, as the model was compiled: --state,
  // or variables of TFLite.
  const std::vector<StateTensor>& states() const { return program_->states(); }

  // With `keep`, the executor passes them on: each run reads what the one before has written, the
  // first one the initial values, which are set here. Nothing is copied: a state that is in place is
  // changed where it is, in the memory of the input, and the others exchange the memory of input and
  // output before a run; memory that was set by SetInputZeroCopy or SetOutputZeroCopy is exchanged,
  // too. An input that is set has this value in the next run. A run that fails leaves the states as
  // they were, but for those in place, which have to be set or reset then. Without `keep` the inputs
  // hold the state of the last run until they are set. FailedPrecondition if the model has no state;
  // ResourceExhausted if there is no memory for outputs of their own.
  absl::Status keep_state(bool keep);

  // Sets the states to their initial values, for a new sequence.
  absl::Status ResetState();

  // Sets the inputs that the content of a params file names.
  absl::Status LoadParams(absl::string_view bytes);

  // Uses the memory of `other` for the inputs that the content of a params file names.
  absl::Status ShareParams(const Executor& other, absl::string_view bytes);

  absl::StatusOr<std::vector<double>> TimeEvaluator(const TimeEvaluatorOptions& options = {});

  // Runs the model once and says how long each operator took.
  absl::StatusOr<ProfileReport> Profile();

 private:
  // A state of the program.
  struct State {
    size_t input;
    size_t output;
    bool is_written = false;  // The output holds the value of the next run.
  };

  // The state that an input holds; null if it is none.
  State* FindState(size_t input);

  // Memory of one input or output.
  struct Slot {
    NDArray own;            // Allocated for this executor; not defined while nothing needs it.
    NDArray current;        // What the next run uses.
    bool is_set = false;    // Inputs: has a value.
    bool is_param = false;  // Inputs: was set from parameters.
  };

  explicit Executor(std::shared_ptr<const Program> program) : program_(std::move(program)) {}

  absl::Status Allocate(const Params& params);
  absl::Status UseParam(int index, const NDArray& array);
  absl::Status CheckInputIndex(int index) const;
  absl::Status CheckOutputIndex(int index) const;
  absl::Status CheckAllSet() const;
  // Exchanges the memory of a state, or of all, that a run has written.
  void PassOn(State& state);
  void PassStatesOn();
  // Gives the outputs of states that are in place the memory of their inputs, and memory of their own.
  void ShareMemoryOfStates();
  absl::Status SeparateMemoryOfStates();
  template <typename Function>
  auto WithMemory(const Function& function) const;

  std::shared_ptr<const Program> program_;
  std::vector<Slot> inputs_;
  std::vector<Slot> outputs_;
  std::vector<State> states_;
  bool keeps_state_ = false;
  std::shared_ptr<ThreadPool> pool_;  // Null: ThreadPool::Global().
  NDArray workspace_;
};

// Calls by name: the module of an executor. Its functions, with `key` a name or an index:
//   set_input(key, tensor), set_input_zero_copy(key, tensor), set_output_zero_copy(key, tensor),
//   get_input(key), get_input(key, tensor to copy to), get_output(key[, tensor]),
//   get_input_index(name) -> -1 if there is none, get_input_name(index),
//   get_num_inputs(), get_num_outputs(), run(),
//   get_input_info() and get_output_info() -> JSON {"shape": {name: [...]}, "dtype": {name: ...}},
//   load_params(bytes), share_params(executor module, bytes),
//   keep_state(0 or 1), reset_state(),
//   time_evaluator([number[, repeat[, min_repeat_ms]]]) -> bytes, a float64 of seconds per repeat,
//   profile() -> JSON of ProfileReport, profile_text() -> the same as a table
Module MakeExecutorModule(std::shared_ptr<Executor> executor);

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_EXECUTOR_H_
