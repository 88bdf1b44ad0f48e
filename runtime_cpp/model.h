// SPDX-License-Identifier: Apache-2.0
//
// A compiled model as a function: outputs from inputs, without state.
//
// One Model may be run by any number of threads at once. Copies are cheap and share the model. Use
// Executor instead where inputs are set one by one, or by name from another language.
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
  // Alignment in bytes of the workspace, and enough for every tensor; a tensor's own, which may be
  // less, is alignment_bytes of its TensorInfo.
  static constexpr size_t kAlignment = kTensorAlignment;

  // Loads a shared object. Errors as of Module::LoadFromFile; NotFound if `device` has no back end.
  static absl::StatusOr<Model> Load(const std::string& path, DLDevice device = kCpu,
                                    const LoadOptions& options = {});

  // The model of a factory, such as that of Module::SystemLib.
  static absl::StatusOr<Model> FromModule(const Module& factory, DLDevice device = kCpu);

  const std::string& name() const { return data_->name; }
  const std::vector<TensorInfo>& inputs() const { return data_->inputs; }
  const std::vector<TensorInfo>& outputs() const { return data_->program->outputs(); }
  int64_t workspace_bytes() const { return data_->program->workspace_bytes(); }
  // Constants in the library, with what aligns them; 0 if it has no metadata of Kiln's.
  int64_t constant_bytes() const { return data_->constant_bytes; }
  // Threads that a run divides a large operator among, the calling one included.
  int num_threads() const;
  // Which model file and options the library was compiled from, by what; empty if it does not say.
  const ModelOrigin& origin() const { return data_->origin; }
  // Inputs that a stream of runs takes from its outputs; Executor::keep_state does that.
  const std::vector<StateTensor>& states() const { return data_->program->states(); }

  // An executor of this model: code, constants and threads are shared, the memory of its tensors is its
  // own.
  absl::StatusOr<std::shared_ptr<Executor>> MakeExecutor() const;

  // NotFound, with all names, if there is none of this name.
  absl::StatusOr<int> InputIndex(absl::string_view name) const;
  absl::StatusOr<int> OutputIndex(absl::string_view name) const;

  // The same model, whose runs compute on the threads of `pool` instead of ThreadPool::Global(). Null:
  // on those.
  Model WithThreadPool(std::shared_ptr<ThreadPool> pool) const;

  // Reads code and constants of the library into memory, allocates a workspace, which is kept as that of
  // a run is, and starts the threads: the first run then takes no longer than others. A program that
  // must never wait for a disk locks its memory besides (mlockall). ResourceExhausted if there is no
  // memory.
  absl::Status Prefault() const;

  // Runs on the given inputs, in the order of inputs(). Outputs are new arrays; the workspace is
  // memory that is kept between runs (workspaces.h). An input that is not aligned or on another
  // device is copied first.
  absl::StatusOr<std::vector<NDArray>> Run(absl::Span<const NDArray> inputs,
                                           const RunOptions& options = {}) const;
  absl::StatusOr<std::vector<NDArray>> Run(absl::Span<const DLTensor* const> inputs,
                                           const RunOptions& options = {}) const;

  // Runs on memory of the caller's: nothing is copied. Lists of tensors are allocated if inputs,
  // parameters and outputs together are more than kInlineTensors, and operators of a graph model may
  // take scratch memory besides, which is kept between runs (workspaces.h). Tensors are aligned as
  // their TensorInfo says and the workspace to kAlignment; it has at least workspace_bytes() bytes and
  // serves one run at a time. Outputs must not overlap inputs, workspace or each other.
  absl::Status Run(absl::Span<const DLTensor* const> inputs,
                   absl::Span<const DLTensor* const> outputs, absl::Span<char> workspace,
                   const RunOptions& options = {}) const;

  // The same with the workspace of the first form, which is allocated if no run has left one.
  absl::Status Run(absl::Span<const DLTensor* const> inputs,
                   absl::Span<const DLTensor* const> outputs, const RunOptions& options = {}) const;

 private:
  struct Data {
    std::string name;
    ModelOrigin origin;
    int64_t constant_bytes = 0;
    std::shared_ptr<const Program> program;
    std::vector<TensorInfo> inputs;    // The program's without those that have parameters.
    std::vector<size_t> input_places;  // For each of `inputs` its index in the program.
    std::vector<NDArray> params;       // One per input of the program; not defined for `inputs`.
    std::shared_ptr<ThreadPool> pool;  // Null: ThreadPool::Global().
    Module factory;                    // Keeps the library.
  };

  explicit Model(std::shared_ptr<const Data> data) : data_(std::move(data)) {}

  // Calls `run` within a RunScope.
  template <typename Function>
  absl::Status InScope(const RunOptions& options, const Function& run) const;
  absl::Status RunToNew(absl::Span<const DLTensor* const> inputs,
                        std::vector<NDArray>& outputs) const;
  absl::Status RunInKept(absl::Span<const DLTensor* const> inputs,
                         absl::Span<const DLTensor* const> outputs) const;
  absl::Status RunIn(absl::Span<const DLTensor* const> inputs,
                     absl::Span<const DLTensor* const> outputs, absl::Span<char> workspace) const;
  absl::Status CheckCount(size_t found, size_t wanted, absl::string_view what) const;
  // CheckCount, then that each of `tensors` can be used in place for the one of `infos`.
  absl::Status CheckAll(const std::vector<TensorInfo>& infos,
                        absl::Span<const DLTensor* const> tensors, absl::string_view what) const;

  std::shared_ptr<const Data> data_;
};

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_MODEL_H_
