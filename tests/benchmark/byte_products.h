// SPDX-License-Identifier: Apache-2.0
// The instruction with which a target adds products of bytes, measured in registers. It is the roof
// of int8 kernels.
#ifndef KILN_TESTS_BENCHMARK_BYTE_PRODUCTS_H_
#define KILN_TESTS_BENCHMARK_BYTE_PRODUCTS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "compiler/target/target.h"

namespace kiln::benchmark {

struct ByteProducts {
  std::string instruction;         // "vpdpbusd zmm"
  void (*run)(int64_t) = nullptr;  // runs the given number of steps
  double operations_per_step = 0;  // a multiply-add is 2
};

// Returns the widest such instruction of the target: vpdpbusd (AVX-512 VNNI, AVX-VNNI), or vpmaddwd
// and an addition on bytes that were already widened. Fails with FailedPrecondition if this machine
// lacks the instruction, and with Unimplemented for targets other than x86-64.
absl::StatusOr<ByteProducts> FindByteProducts(const Target& target);

}  // namespace kiln::benchmark

#endif  // KILN_TESTS_BENCHMARK_BYTE_PRODUCTS_H_
