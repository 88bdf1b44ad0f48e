// SPDX-License-Identifier: Apache-2.0
//
// A model whose calls are listed in a table. The operator function of each node is called in order.
//
// Outputs of the model are computed in the caller's memory. Other results are in the workspace, in
// which entries with the same storage id share memory.
#ifndef KILN_RUNTIME_CPP_GRAPH_PROGRAM_H_
#define KILN_RUNTIME_CPP_GRAPH_PROGRAM_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime_cpp/graph_table.h"
#include "runtime_cpp/module.h"
#include "runtime_cpp/program.h"

namespace kiln::runtime {

class GraphProgram final : public Program {
 public:
  // `module` is or imports the library of operator functions. Returns NotFound if a function is
  // missing or `device` has no back end, and InvalidArgument if the table is invalid or for another
  // device.
  static absl::StatusOr<std::unique_ptr<Program>> Create(absl::string_view graph_json,
                                                         const Module& module, DLDevice device);

  absl::string_view executor() const override { return "graph"; }
  absl::Status Run(const RunMemory& memory) const override;
  absl::StatusOr<std::vector<OperatorTiming>> Profile(const RunMemory& memory) const override;

 private:
  // Location of an entry's data during a run.
  struct Place {
    enum Kind { kInput, kOutput, kWorkspace };
    Kind kind = kWorkspace;
    size_t index = 0;  // Number of the input or output, or offset in the workspace in bytes.
  };

  // One call of an operator function. Its tensors are arguments_[first_argument …].
  struct Call {
    PackedFunc function;     // Undefined if the call copies the first tensor to the second.
    OperatorTiming untimed;  // Facts about the call without measurements.
    size_t first_argument = 0;
    size_t num_arguments = 0;
  };

  // A tensor of a call. `tensor.data` is set in each run.
  struct Argument {
    DLTensor tensor;
    size_t entry;
  };

  // An output that is not computed in place, because it is also an input or another output.
  struct OutputCopy {
    size_t output;
    size_t entry;
  };

  GraphProgram(GraphTable table, DLDevice device) : Program(device), table_(std::move(table)) {}

  absl::Status CheckDevice() const;
  void PlaceEntries(const std::vector<size_t>& alias_of);
  absl::Status PlaceWorkspace(const std::vector<size_t>& alias_of);
  absl::Status ResolveCalls(const Module& module, const std::optional<ModelMetadata>& metadata);
  void DescribeTensors(const std::optional<ModelMetadata>& metadata);
  void AddArgument(size_t entry, bool flatten);

  void* Address(const Place& place, const RunMemory& memory) const;
  absl::Status RunCall(const Call& call, const RunMemory& memory) const;
  absl::Status RunCalls(const RunMemory& memory, std::vector<OperatorTiming>* timings) const;

  GraphTable table_;
  std::vector<Place> places_;  // One per entry.
  std::vector<Call> calls_;
  std::vector<Argument> arguments_;
  std::vector<std::unique_ptr<int64_t>> flat_extents_;  // Shapes of flattened arguments.
  std::vector<OutputCopy> output_copies_;
};

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_GRAPH_PROGRAM_H_
