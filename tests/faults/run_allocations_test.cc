// SPDX-License-Identifier: Apache-2.0
// Counts the memory allocations of a run, after a first run has allocated the memory that is kept.
#include <algorithm>
#include <functional>
#include <vector>

#include "gtest/gtest.h"
#include "runtime_cpp/model.h"
#include "runtime_cpp/ndarray.h"
#include "runtime_cpp/thread_pool.h"
#include "tests/faults/faults.h"

namespace kiln::runtime {
namespace {

constexpr char kAot[] = "runtime_cpp/testdata/add_aot.so";
constexpr char kGraph[] = "runtime_cpp/testdata/add_graph.so";
constexpr int kThreads = 3;

// A model with tensors for its runs, after a first run.
class WarmModel {
 public:
  explicit WarmModel(const char* path) : model_(Model::Load(path).value()) {
    EXPECT_TRUE(ThreadPool::Global().SetNumThreads(kThreads).ok());
    for (const TensorInfo& info : model_.inputs())
      inputs_.push_back(NDArray::Empty(info.shape, info.dtype).value());
    for (const TensorInfo& info : model_.outputs()) {
      outputs_.push_back(NDArray::Empty(info.shape, info.dtype).value());
    }
    for (const NDArray& input : inputs_) {
      std::ranges::fill(input.values<float>(), 0.5F);
      input_tensors_.push_back(input.tensor());
    }
    for (const NDArray& output : outputs_) output_tensors_.push_back(output.tensor());
    workspace_ = NDArray::Empty({model_.workspace_bytes()}, {kDLUInt, 8, 1}).value();
    EXPECT_TRUE(model_.Run(input_tensors_, output_tensors_).ok());
  }

  // Number of allocations of one call of each form of Run.
  long AllocationsInCallersMemory() const {
    return Allocations([this] {
      return model_.Run(input_tensors_, output_tensors_, workspace_.values<char>()).ok();
    });
  }
  long AllocationsWithWorkspace() const {
    return Allocations([this] { return model_.Run(input_tensors_, output_tensors_).ok(); });
  }
  long AllocationsWithOutputs() const {
    return Allocations([this] { return model_.Run(inputs_).ok(); });
  }

  long num_outputs() const { return static_cast<long>(outputs_.size()); }

 private:
  static long Allocations(const std::function<bool()>& run) {
    FaultsBegin(kMallocFault, -1, 0);
    const bool right = run();
    const long calls = FaultsEnd();
    EXPECT_TRUE(right);
    return calls;
  }

  Model model_;
  std::vector<NDArray> inputs_, outputs_;
  std::vector<const DLTensor*> input_tensors_, output_tensors_;
  NDArray workspace_;
};

TEST(AllocationsTest, OfARun) {
  for (const char* const path : {kAot, kGraph}) {
    const WarmModel model(path);
    EXPECT_EQ(model.AllocationsInCallersMemory(), 0) << path;
    EXPECT_EQ(model.AllocationsWithWorkspace(), 0) << path;
    // The list of outputs, and the description and data of each output.
    EXPECT_EQ(model.AllocationsWithOutputs(), 1 + 2 * model.num_outputs()) << path;
  }
}

}  // namespace
}  // namespace kiln::runtime
