// SPDX-License-Identifier: Apache-2.0
// The kernels that are measured, as functions of this process.
#ifndef KILN_TESTS_BENCHMARK_KERNEL_CASES_H_
#define KILN_TESTS_BENCHMARK_KERNEL_CASES_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/codegen/llvm/jit.h"

namespace kiln::benchmark {

// A compiled model of one operator or a few, with memory for its arguments.
struct Kernel {
  std::string name;
  double flops = 0;   // of one run; a multiply-add is 2. 0: memory binds it
  int64_t bytes = 0;  // of inputs, constants and outputs
  std::unique_ptr<codegen::Jit> jit = nullptr;
  std::vector<std::shared_ptr<char>> memory = {};
  std::vector<void*> args = {};
  std::string schedule = {};
};

// Dense layers, convolutions, and what memory binds, of shapes that models have.
absl::StatusOr<std::vector<Kernel>> KernelCases();

}  // namespace kiln::benchmark

#endif  // KILN_TESTS_BENCHMARK_KERNEL_CASES_H_
