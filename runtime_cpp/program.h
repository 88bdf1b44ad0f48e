// SPDX-License-Identifier: Apache-2.0
//
// The immutable part of an executor: the inputs and outputs of a model, and the code that runs it
// on given memory.
//
// A Program has no state of a run, so any number of threads may run it at the same time, each on
// its own memory. Executor adds the state of its inputs and outputs; Model adds checks and
// allocation. There are two kinds: AotProgram calls the compiled entry function, GraphProgram walks
// a graph table.
#ifndef KILN_RUNTIME_CPP_PROGRAM_H_
#define KILN_RUNTIME_CPP_PROGRAM_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime_cpp/metadata.h"
#include "runtime_cpp/profile.h"

namespace kiln::runtime {

// Runs of models with at most this many inputs, parameters and outputs allocate no memory for lists
// of tensors.
inline constexpr size_t kInlineTensors = 32;

// Memory of one run, on the program's device. A tensor is aligned to the alignment_bytes of its
// TensorInfo, the workspace to kTensorAlignment.
struct RunMemory {
  absl::Span<void* const> inputs;   // One compact tensor per input of the program.
  absl::Span<void* const> outputs;  // One compact tensor per output, without any overlap.
  void* workspace = nullptr;        // workspace_bytes() bytes; may be null if that is 0.
};

// A state: an input whose value in the next run is an output of the current run. Input and output
// have the same shape and type.
struct StateTensor {
  std::string input;         // Name of the input.
  std::string output;        // Name of the output.
  double initial_value = 0;  // Value of every element of the input in the first run.
  bool is_in_place = false;  // Input and output may share memory, which a run then changes.
};

class Program {
 public:
  virtual ~Program() = default;

  // "aot" or "graph".
  virtual absl::string_view executor() const = 0;

  // Runs the model once. Several threads may run it at the same time on different memory.
  virtual absl::Status Run(const RunMemory& memory) const = 0;

  // Runs the model once and returns the duration of each operator function. FailedPrecondition if
  // the model was not compiled for profiling.
  virtual absl::StatusOr<std::vector<OperatorTiming>> Profile(const RunMemory& memory) const = 0;

  // Name of the module; empty unless set_name was called.
  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }
  const std::vector<TensorInfo>& inputs() const { return inputs_; }
  const std::vector<TensorInfo>& outputs() const { return outputs_; }
  const std::vector<StateTensor>& states() const { return states_; }
  int64_t workspace_bytes() const { return workspace_bytes_; }
  DLDevice device() const { return device_; }

 protected:
  explicit Program(DLDevice device) : device_(device) {}

  // Reduces the required alignment of inputs and outputs to that of their elements. This is done
  // only if all code that accesses them is Kiln's code in the library, which assumes no more.
  void TakeAlignment(const ModelMetadata& metadata);

  // Adds the states of the metadata. Returns DataLoss if they are not inputs and outputs of the
  // same shape and type.
  absl::Status TakeStates(const ModelMetadata& metadata);

  // Registers the size of the idle workspaces that runs of this program use: its workspace, and the
  // scratch memory of its functions if there is metadata. Called after workspace_bytes_ has been
  // set.
  void RegisterWorkspaces(const ModelMetadata* metadata);

  DLDevice device_;
  std::vector<TensorInfo> inputs_;
  std::vector<TensorInfo> outputs_;
  std::vector<StateTensor> states_;
  int64_t workspace_bytes_ = 0;

 private:
  std::string name_;
  std::shared_ptr<const void> workspace_user_;  // Its destructor frees idle workspaces.
};

// Returns a timing with the facts of the function's metadata and no measurements.
OperatorTiming TimingOf(const FunctionInfoView& function);

// Returns the index of the tensor called `name`. NotFound, with all names, if there is none. `what`
// is "input" or "output".
absl::StatusOr<int> FindTensor(const std::vector<TensorInfo>& infos, absl::string_view name,
                               absl::string_view what);

// Checks that `tensor` matches input or output number `index`: shape, data type, compact strides.
absl::Status CheckTensor(const TensorInfo& info, const DLTensor& tensor, absl::string_view what,
                         size_t index);

// Calls CheckTensor, then checks that the tensor can be used in place: device and alignment.
absl::Status CheckTensorInPlace(const TensorInfo& info, const DLTensor& tensor,
                                absl::string_view what, size_t index);

bool IsAligned(const void* address, size_t alignment_bytes);

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_PROGRAM_H_
