// SPDX-License-Identifier: Apache-2.0
// The instruction by which a target adds products of bytes, in registers and nothing else: what an
// int8 kernel is compared with.
#ifndef KILN_TESTS_BENCHMARK_BYTE_PRODUCTS_H_
#define KILN_TESTS_BENCHMARK_BYTE_PRODUCTS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "compiler/target/target.h"

namespace kiln::benchmark {

struct ByteProducts {
  std::string instruction;         // "vpdpbusd zmm"
  void (*run)(int64_t) = nullptr;  // so many steps
  double operations_per_step = 0;  // a multiply-add is 2
};

// The widest that the target has: vpdpbusd (AVX-512 VNNI, AVX-VNNI), or vpmaddwd and an addition on
// bytes that are widened already. FailedPrecondition if this machine lacks it; Unimplemented for
// targets other than x86-64.
absl::StatusOr<ByteProducts> FindByteProducts(const Target& target);

}  // namespace kiln::benchmark

#endif  // KILN_TESTS_BENCHMARK_BYTE_PRODUCTS_H_
