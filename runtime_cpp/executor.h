// SPDX-License-Identifier: Apache-2.0
//
// A model with inputs that are set and outputs that are read one by one. Executors of the kinds
// "aot" and "graph" have the same methods.
//
// The executor owns memory for inputs, outputs and workspace, which is allocated when it is made.
// Use one executor per thread, or Model for runs without state. Other languages call it by name, as
// described at MakeExecutorModule.
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
  // Makes an executor of the model of `factory`, with the factory's parameters set. Returns
  // NotFound, with the name of the device, if `device` has no back end.
  static absl::StatusOr<std::shared_ptr<Executor>> Create(const Module& factory, DLDevice device);

  // Makes an executor of a program. Inputs named in `params` start with these values, which are
  // shared and not copied.
  static absl::StatusOr<std::shared_ptr<Executor>> Create(std::shared_ptr<const Program> program,
                                                          const Params& params);

  // Returns the executor of a module that factory["my_mod"](device) has returned.
  static absl::StatusOr<std::shared_ptr<Executor>> FromModule(const Module& module);

  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  int num_outputs() const { return static_cast<int>(outputs_.size()); }
  const std::vector<TensorInfo>& input_infos() const { return program_->inputs(); }
  const std::vector<TensorInfo>& output_infos() const { return program_->outputs(); }
  const Program& program() const { return *program_; }

  // Find a tensor by name. They return NotFound, with all names, if there is none.
  absl::StatusOr<int> GetInputIndex(absl::string_view name) const;
  absl::StatusOr<int> GetOutputIndex(absl::string_view name) const;

  // True if the value of the input comes from parameters.
  bool IsParam(int index) const { return inputs_[static_cast<size_t>(index)].is_param; }

  // Copy the elements of `tensor` into the input. They return InvalidArgument, with what was found
  // and expected, if the tensor does not fit.
  absl::Status SetInput(int index, const DLTensor& tensor);
  absl::Status SetInput(absl::string_view name, const DLTensor& tensor);

  // Use the memory of `array` from the next run on. It must be aligned as its TensorInfo says. A
  // borrowed array must outlive its use.
  absl::Status SetInputZeroCopy(int index, const NDArray& array);
  absl::Status SetInputZeroCopy(absl::string_view name, const NDArray& array);
  absl::Status SetOutputZeroCopy(int index, const NDArray& array);
  absl::Status SetOutputZeroCopy(absl::string_view name, const NDArray& array);

  // Return an array that shares the memory which the next run reads or the last run has written.
  // The caller may fill an input through it, so the input then counts as set.
  absl::StatusOr<NDArray> GetInput(int index);
  absl::StatusOr<NDArray> GetInput(absl::string_view name);
  absl::StatusOr<NDArray> GetOutput(int index) const;
  absl::StatusOr<NDArray> GetOutput(absl::string_view name) const;

  // Runs the model. Returns FailedPrecondition, with the names of the inputs, if inputs have never
  // been set.
  absl::Status Run(const RunOptions& options = {});

  // Makes runs use the threads of `pool` instead of ThreadPool::Global(). Null:
  // ThreadPool::Global().
  void SetThreadPool(std::shared_ptr<ThreadPool> pool) { pool_ = std::move(pool); }

  // The states: inputs whose value in the next run is an output of the current run. They were
  // declared by --state of the compiler or by variables of TFLite.
  const std::vector<StateTensor>& states() const { return program_->states(); }

  // If `keep` is true, each run reads the state that the previous run wrote. The first run reads
  // the initial values, which this call sets. No memory is copied: a state with is_in_place is
  // changed in the memory of its input. For other states, input and output exchange their memory
  // before a run, including memory from SetInputZeroCopy or SetOutputZeroCopy. If the program sets
  // such an input, the next run reads that value. A failed run leaves the states unchanged, except
  // those with is_in_place, which must then be set or reset. If `keep` is false, the inputs hold
  // the state of the last run until they are set. Returns FailedPrecondition if the model has no
  // state, and ResourceExhausted if there is no memory for separate outputs.
  absl::Status keep_state(bool keep);

  // Sets all states to their initial values, to begin a new sequence.
  absl::Status ResetState();

  // Sets the inputs that are named in `bytes`, the content of a params file.
  absl::Status LoadParams(absl::string_view bytes);

  // Uses the memory of `other` for the inputs that are named in `bytes`, as above.
  absl::Status ShareParams(const Executor& other, absl::string_view bytes);

  absl::StatusOr<std::vector<double>> TimeEvaluator(const TimeEvaluatorOptions& options = {});

  // Runs the model once and returns the duration of each operator.
  absl::StatusOr<ProfileReport> Profile();

 private:
  // A state of the program.
  struct State {
    size_t input;
    size_t output;
    bool is_written = false;  // The output holds the value for the next run.
  };

  // Returns the state that `input` holds; null if it holds none.
  State* FindState(size_t input);

  // Memory of one input or output.
  struct Slot {
    NDArray own;            // Memory of this executor; undefined while it is not needed.
    NDArray current;        // Memory that the next run uses.
    bool is_set = false;    // Inputs: has a value.
    bool is_param = false;  // Inputs: was set from parameters.
  };

  explicit Executor(std::shared_ptr<const Program> program) : program_(std::move(program)) {}

  absl::Status Allocate(const Params& params);
  absl::Status UseParam(int index, const NDArray& array);
  absl::Status CheckInputIndex(int index) const;
  absl::Status CheckOutputIndex(int index) const;
  absl::Status CheckAllSet() const;
  // Exchange the memory of a state, or of all states, that a run has written.
  void PassOn(State& state);
  void PassStatesOn();
  // Give the outputs of states with is_in_place the memory of their inputs, and separate memory
  // again.
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

// Makes the module of an executor, for calls by name. `key` is a name or an index. Its functions:
//   set_input(key, tensor), set_input_zero_copy(key, tensor), set_output_zero_copy(key, tensor).
//   get_input(key), get_input(key, tensor to copy to), get_output(key[, tensor]).
//   get_input_index(name) -> -1 if there is none, get_input_name(index).
//   get_num_inputs(), get_num_outputs(), run().
//   get_input_info() and get_output_info() -> JSON {"shape": {name: [...]}, "dtype": {name: ...}}.
//   load_params(bytes), share_params(executor module, bytes).
//   keep_state(0 or 1), reset_state().
//   time_evaluator([number[, repeat[, min_repeat_ms]]]) -> bytes, a float64 of seconds per repeat.
//   profile() -> JSON of ProfileReport, profile_text() -> the same as a table.
Module MakeExecutorModule(std::shared_ptr<Executor> executor);

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_EXECUTOR_H_
