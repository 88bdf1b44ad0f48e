// SPDX-License-Identifier: Apache-2.0
// A kernel to measure: a model of one operator or a few, compiled to a function of this process.
#ifndef KILN_TESTS_BENCHMARK_KERNEL_H_
#define KILN_TESTS_BENCHMARK_KERNEL_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/codegen/llvm/jit.h"
#include "compiler/graph/graph.h"
#include "compiler/schedule/schedule.h"
#include "compiler/target/target.h"

namespace kiln::benchmark {

// The peak rate with which a kernel is compared.
enum class Roof {
  kMultiplyAdds,  // float32 multiply-adds, in registers
  kByteProducts,  // the instruction that adds products of bytes, in registers
  kCopy,          // a copy that reads and writes as many bytes
};

struct Kernel {
  std::string name;
  Roof roof = Roof::kCopy;
  double operations = 0;  // of one run; a multiply-add is 2. 0 for Roof::kCopy
  int64_t bytes = 0;      // of inputs, constants and outputs
  std::unique_ptr<codegen::Jit> jit = nullptr;
  std::vector<std::shared_ptr<char>> memory = {};
  std::vector<void*> args = {};
  std::string schedule = {};

  // Work of one run in the unit of the roof: bytes for Roof::kCopy, otherwise operations.
  double work() const { return roof == Roof::kCopy ? static_cast<double>(bytes) : operations; }
};

// Compiles graphs for one target into kernels. Skips kernels whose names do not contain the filter.
class KernelList {
 public:
  KernelList(Target target, std::string filter)
      : target_(std::move(target)), filter_(std::move(filter)) {}

  // `operations` counts only products; it is 0 for Roof::kCopy.
  void Add(absl::string_view name, Roof roof, double operations, absl::StatusOr<Graph> graph,
           const ScheduleOptions& schedule = {});

  // Returns the kernels, or the first error with the kernel's name.
  absl::StatusOr<std::vector<Kernel>> Take() &&;

 private:
  Target target_;
  std::string filter_;
  absl::Status status_;
  std::vector<Kernel> kernels_;
};

// Each function adds the kernels of its kind that are typical of models.
void AddProducts(KernelList& list);      // float32: dense layers, convolutions, attention
void AddMemoryBound(KernelList& list);   // float32: depthwise, pooling, element-wise, moves
void AddInt8Products(KernelList& list);  // with TFLite's requantization

}  // namespace kiln::benchmark

#endif  // KILN_TESTS_BENCHMARK_KERNEL_H_
