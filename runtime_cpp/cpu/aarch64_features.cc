// SPDX-License-Identifier: Apache-2.0
#include "runtime_cpp/cpu/aarch64_features.h"

namespace kiln {
namespace {

constexpr uint64_t HwcapBit(int n) { return uint64_t{1} << n; }

}  // namespace

// Bits of arch/arm64/include/uapi/asm/hwcap.h of Linux. AES and SHA-2 are not in the table. LLVM
// gives them to processors that are also sold without them, such as the Cortex-A72 of the Raspberry
// Pi 4, and the code of a model does not use them.
const std::vector<Aarch64Feature>& Aarch64Features() {
  static const auto& table = *new std::vector<Aarch64Feature>{
      {"crc", HwcapBit(7), 0, {}},
      {"lse", HwcapBit(8), 0, {}},
      {"fullfp16", HwcapBit(9) | HwcapBit(10), 0, {"fp-armv8"}},
      {"rdm", HwcapBit(12), 0, {"neon", "fp-armv8"}},
      {"jsconv", HwcapBit(13), 0, {"fp-armv8"}},
      {"complxnum", HwcapBit(14), 0, {"neon", "fp-armv8"}},
      {"rcpc", HwcapBit(15), 0, {}},
      {"dotprod", HwcapBit(20), 0, {"neon", "fp-armv8"}},
      {"sve", HwcapBit(22), 0, {"fullfp16"}},
      {"fp16fml", HwcapBit(23), 0, {"fullfp16"}},
      {"sve2", 0, HwcapBit(1), {"sve"}},
      {"i8mm", 0, HwcapBit(13), {}},
      {"bf16", 0, HwcapBit(14), {}},
      {"sme", 0, HwcapBit(23), {"bf16"}},
  };
  return table;
}

}  // namespace kiln
