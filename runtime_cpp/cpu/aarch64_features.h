// SPDX-License-Identifier: Apache-2.0
// Features of AArch64 CPUs beyond Armv8.0, and the bits by which Linux reports them to a process.
#ifndef KILN_RUNTIME_CPP_CPU_AARCH64_FEATURES_H_
#define KILN_RUNTIME_CPP_CPU_AARCH64_FEATURES_H_

#include <cstdint>
#include <vector>

namespace kiln {

struct Aarch64Feature {
  const char* name;  // LLVM's: "dotprod"
  // All of these bits of the entries AT_HWCAP and AT_HWCAP2 of the auxiliary vector are set where
  // the CPU and the kernel have the feature.
  uint64_t hwcap;
  uint64_t hwcap2;
  std::vector<const char*> implies;  // Armv8.0's neon and fp-armv8, which have no row, among them
};

const std::vector<Aarch64Feature>& Aarch64Features();

}  // namespace kiln

#endif  // KILN_RUNTIME_CPP_CPU_AARCH64_FEATURES_H_
