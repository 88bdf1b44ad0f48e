// SPDX-License-Identifier: Apache-2.0
// Peak rates of this machine at this moment, with which kernels are compared.
#ifndef KILN_TESTS_BENCHMARK_ROOFS_H_
#define KILN_TESTS_BENCHMARK_ROOFS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/codegen/llvm/jit.h"
#include "compiler/target/target.h"
#include "tests/benchmark/byte_products.h"

namespace kiln::benchmark {

enum class Clock {
  kWall,
  kProcessor,  // time on the CPU, summed over all threads of this process
};

// Returns the seconds of one run of `run`: the median of samples that take some milliseconds
// together. This is long enough to exclude samples that another process interrupts. It is short
// enough that the next measurement finds the machine in the same state.
absl::StatusOr<double> SecondsPerRun(const std::function<absl::Status()>& run, Clock clock);

// Rates of all threads of the runtime's pool together, measured at each call.
class Roofs {
 public:
  // Measures code for `target`, which must be this machine or an older one of its kind.
  static absl::StatusOr<Roofs> Create(const Target& target, Clock clock);

  // Operations per second (a multiply-add is 2) of generated code that multiplies and adds in
  // registers, in vectors of the target's full width.
  absl::StatusOr<double> Flops() const;

  // The same for the instruction that adds products of bytes. Fails if FindByteProducts fails.
  absl::StatusOr<double> ByteOperations() const;

  // Bytes read and written per second by a copy that reads and writes `bytes` in all.
  absl::StatusOr<double> CopiedBytes(int64_t bytes);

 private:
  Clock clock_ = Clock::kWall;
  int64_t accumulators_ = 0;
  std::unique_ptr<codegen::Jit> jit_;
  absl::StatusOr<ByteProducts> byte_products_;
  std::vector<char> memory_;  // source and destination of the copy
};

}  // namespace kiln::benchmark

#endif  // KILN_TESTS_BENCHMARK_ROOFS_H_
