// SPDX-License-Identifier: Apache-2.0
//
// The unchanging half of an executor: what a model takes and gives, and how it runs on given
// memory.
//
// A Program holds no state of a run, so any number of threads may run it at once, each on memory of
// its own. Executor adds the state of set_input and get_output; Model adds checks and allocation.
// There are two kinds: AotProgram calls the compiled run_model, GraphProgram walks a graph table.
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

// Runs of models with at most this many inputs, parameters and outputs together allocate no memory
// for their lists.
inline constexpr size_t kInlineTensors = 32;

// Memory of one run, on the program's device. A tensor is aligned to the alignment_bytes of its
// TensorInfo, the workspace to kTensorAlignment.
struct RunMemory {
  absl::Span<void* const> inputs;   // One compact tensor per input of the program.
  absl::Span<void* const> outputs;  // One compact tensor per output; none overlaps another memory.
  void* workspace = nullptr;        // workspace_bytes() bytes; may be NULL if that is 0.
};

// An input whose value in the next run is what a run gives as an output. Both have one type.
struct StateTensor {
  std::string input;  // Names, of which the program has both.
  std::string output;
  double initial_value = 0;  // Of every element of the input, in the first run.
  bool is_in_place = false;  // Both may be one memory, which a run then changes.
};

class Program {
 public:
  virtual ~Program() = default;

  // "aot" or "graph".
  virtual absl::string_view executor() const = 0;

  // Runs the model once. Safe from many threads on different memory.
  virtual absl::Status Run(const RunMemory& memory) const = 0;

  // Runs the model once and says how long each operator function took. FailedPrecondition if the
  // model was not compiled so that it can.
  virtual absl::StatusOr<std::vector<OperatorTiming>> Profile(const RunMemory& memory) const = 0;

  // The name of the module; empty if nobody has set it.
  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }
  const std::vector<TensorInfo>& inputs() const { return inputs_; }
  const std::vector<TensorInfo>& outputs() const { return outputs_; }
  const std::vector<StateTensor>& states() const { return states_; }
  int64_t workspace_bytes() const { return workspace_bytes_; }
  DLDevice device() const { return device_; }

 protected:
  explicit Program(DLDevice device) : device_(device) {}

  // Lets inputs and outputs be aligned to their elements alone, if the code of the library is all
  // that reads and writes them and is Kiln's, which assumes no more.
  void TakeAlignment(const ModelMetadata& metadata);

  // Takes over the states of the metadata. DataLoss if they are not inputs and outputs of one type.
  absl::Status TakeStates(const ModelMetadata& metadata);

  // Says how large the blocks of idle workspaces are that runs of this program take: its workspace,
  // and the scratch memory of its functions if there is metadata. Called once workspace_bytes_ is set.
  void RegisterWorkspaces(const ModelMetadata* metadata);

  DLDevice device_;
  std::vector<TensorInfo> inputs_;
  std::vector<TensorInfo> outputs_;
  std::vector<StateTensor> states_;
  int64_t workspace_bytes_ = 0;

 private:
  std::string name_;
  std::shared_ptr<const void> workspace_user_;  // Frees idle workspaces at the end.
};

// What the metadata says of a function, for a profile to measure.
OperatorTiming TimingOf(const FunctionInfoView& function);

// The index of the tensor called `name`. NotFound, with all names, if there is none; `what` is
// "input" or "output".
absl::StatusOr<int> FindTensor(const std::vector<TensorInfo>& infos, absl::string_view name,
                               absl::string_view what);

// Checks that `tensor` fits the `index`-th input or output: shape, data type, compact strides.
absl::Status CheckTensor(const TensorInfo& info, const DLTensor& tensor, absl::string_view what,
                         size_t index);

// CheckTensor, then that the tensor can be used in place: device and alignment.
absl::Status CheckTensorInPlace(const TensorInfo& info, const DLTensor& tensor,
                                absl::string_view what, size_t index);

bool IsAligned(const void* address, size_t alignment_bytes);

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_PROGRAM_H_
