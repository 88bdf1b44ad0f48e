// SPDX-License-Identifier: Apache-2.0
//
// A compiled model as a stateless function from inputs to outputs.
//
// Any number of threads may run one Model at the same time. Copies are cheap and share the model.
// Use Executor if inputs are set one by one, or if another language sets them by name.
//
//   absl::StatusOr<Model> model = Model::Load("my_mod.so");
//   absl::StatusOr<std::vector<NDArray>> outputs = model->Run({image});
#ifndef KILN_RUNTIME_CPP_MODEL_H_
#define KILN_RUNTIME_CPP_MODEL_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime_cpp/device_api.h"
#include "runtime_cpp/metadata.h"
#include "runtime_cpp/module.h"
#include "runtime_cpp/ndarray.h"
#include "runtime_cpp/program.h"
#include "runtime_cpp/run_options.h"

namespace kiln::runtime {

class Executor;

class Model {
 public:
  // Alignment of the workspace in bytes, which is also sufficient for every tensor. A tensor may
  // need less: alignment_bytes of its TensorInfo.
  static constexpr size_t kAlignment = kTensorAlignment;

  // Loads a shared object. Returns the errors of Module::LoadFromFile, and NotFound if `device` has
  // no back end.
  static absl::StatusOr<Model> Load(const std::string& path, DLDevice device = kCpu,
                                    const LoadOptions& options = {});

  // Makes the model of a factory, such as the result of Module::SystemLib.
  static absl::StatusOr<Model> FromModule(const Module& factory, DLDevice device = kCpu);

  const std::string& name() const { return data_->name; }
  const std::vector<TensorInfo>& inputs() const { return data_->inputs; }
  const std::vector<TensorInfo>& outputs() const { return data_->program->outputs(); }
  int64_t workspace_bytes() const { return data_->program->workspace_bytes(); }
  // Size of the constants in the library, including padding for alignment. 0 if the library has no
  // metadata of Kiln.
  int64_t constant_bytes() const { return data_->constant_bytes; }
  // Number of threads that share a large operator, including the calling thread.
  int num_threads() const;
  // Compiler, model file and options that the library was made from. Unknown texts are empty.
  const ModelOrigin& origin() const { return data_->origin; }
  // The states: inputs whose value in the next run is an output of the current run.
  // Executor::keep_state passes them on.
  const std::vector<StateTensor>& states() const { return data_->program->states(); }

  // Makes an executor of the model. It shares code, constants and threads and has its own tensors.
  absl::StatusOr<std::shared_ptr<Executor>> MakeExecutor() const;

  // Find a tensor by name. They return NotFound, with all names, if there is none.
  absl::StatusOr<int> InputIndex(absl::string_view name) const;
  absl::StatusOr<int> OutputIndex(absl::string_view name) const;

  // Returns the same model with runs that use the threads of `pool` instead of
  // ThreadPool::Global(). Null: ThreadPool::Global().
  Model WithThreadPool(std::shared_ptr<ThreadPool> pool) const;

  // Reads code and constants of the library into memory, allocates a workspace, which is kept for
  // later runs, and starts the threads. The first run then takes no longer than later ones. A
  // program that must never wait for a disk should also lock its memory (mlockall). Returns
  // ResourceExhausted if there is no memory.
  absl::Status Prefault() const;

  // Runs the model on inputs in the order of inputs(). The outputs are new arrays. The workspace is
  // memory that is kept between runs (workspaces.h). An input that is misaligned or on another
  // device is copied first.
  absl::StatusOr<std::vector<NDArray>> Run(absl::Span<const NDArray> inputs,
                                           const RunOptions& options = {}) const;
  absl::StatusOr<std::vector<NDArray>> Run(absl::Span<const DLTensor* const> inputs,
                                           const RunOptions& options = {}) const;

  // Runs the model in memory of the caller, without copies. Tensors must be aligned as their
  // TensorInfo says. The workspace must have at least workspace_bytes() bytes and be aligned to
  // kAlignment. It serves one run at a time. Outputs must not overlap inputs, the workspace or each
  // other. Two things are still allocated: lists of tensors if inputs, parameters and outputs
  // together are more than kInlineTensors, and scratch memory of the operators of a graph model,
  // which is kept between runs (workspaces.h).
  absl::Status Run(absl::Span<const DLTensor* const> inputs,
                   absl::Span<const DLTensor* const> outputs, absl::Span<char> workspace,
                   const RunOptions& options = {}) const;

  // Runs the model with outputs of the caller and a workspace that is kept between runs.
  absl::Status Run(absl::Span<const DLTensor* const> inputs,
                   absl::Span<const DLTensor* const> outputs, const RunOptions& options = {}) const;

 private:
  struct Data {
    std::string name;
    ModelOrigin origin;
    int64_t constant_bytes = 0;
    std::shared_ptr<const Program> program;
    std::vector<TensorInfo> inputs;    // Inputs of the program that have no parameter.
    std::vector<size_t> input_places;  // Index in the program of each of `inputs`.
    std::vector<NDArray> params;       // One per input of the program; undefined for `inputs`.
    std::shared_ptr<ThreadPool> pool;  // Null: ThreadPool::Global().
    Module factory;                    // Keeps the library loaded.
  };

  explicit Model(std::shared_ptr<const Data> data) : data_(std::move(data)) {}

  // Calls `run` in a RunScope.
  template <typename Function>
  absl::Status InScope(const RunOptions& options, const Function& run) const;
  absl::Status RunToNew(absl::Span<const DLTensor* const> inputs,
                        std::vector<NDArray>& outputs) const;
  absl::Status RunInKept(absl::Span<const DLTensor* const> inputs,
                         absl::Span<const DLTensor* const> outputs) const;
  absl::Status RunIn(absl::Span<const DLTensor* const> inputs,
                     absl::Span<const DLTensor* const> outputs, absl::Span<char> workspace) const;
  absl::Status CheckCount(size_t found, size_t wanted, absl::string_view what) const;
  // Calls CheckCount, then checks that each tensor can be used in place for its entry of `infos`.
  absl::Status CheckAll(const std::vector<TensorInfo>& infos,
                        absl::Span<const DLTensor* const> tensors, absl::string_view what) const;

  std::shared_ptr<const Data> data_;
};

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_MODEL_H_
