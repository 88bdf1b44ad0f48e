// SPDX-License-Identifier: Apache-2.0
// Features of AArch64 CPUs beyond Armv8.0, and the bits by which Linux reports them to a process.
#ifndef KILN_RUNTIME_CPP_CPU_AARCH64_FEATURES_H_
#define KILN_RUNTIME_CPP_CPU_AARCH64_FEATURES_H_

#include <cstdint>
#include <vector>

namespace kiln {

struct Aarch64Feature {
  const char* name;  // LLVM's name: "dotprod".
  // All of these bits are set in the entries AT_HWCAP and AT_HWCAP2 of the auxiliary vector if the
  // CPU and the kernel have the feature.
  uint64_t hwcap;
  uint64_t hwcap2;
  // Features that it implies, including neon and fp-armv8 of Armv8.0, which have no row.
  std::vector<const char*> implies;
};

const std::vector<Aarch64Feature>& Aarch64Features();

}  // namespace kiln

#endif  // KILN_RUNTIME_CPP_CPU_AARCH64_FEATURES_H_
