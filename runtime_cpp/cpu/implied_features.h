// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_RUNTIME_CPP_CPU_IMPLIED_FEATURES_H_
#define KILN_RUNTIME_CPP_CPU_IMPLIED_FEATURES_H_

#include "absl/strings/string_view.h"

namespace kiln {

// True if each CPU with `feature` has `other`, which may be the same. Both are LLVM's names. A
// feature that is neither in X86Features nor in Aarch64Features implies only itself.
bool ImpliesFeature(absl::string_view feature, absl::string_view other);

}  // namespace kiln

#endif  // KILN_RUNTIME_CPP_CPU_IMPLIED_FEATURES_H_
