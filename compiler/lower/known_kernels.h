// SPDX-License-Identifier: Apache-2.0
// KnownKernels: functions, keyed by their computation. A network that is written out step by step
// has the same operator with the same weights in each step. It is scheduled once.
//
//   std::optional<std::string> key = KnownKernels::KeyOf(kernel, memory);
//   if (const Scheduled* known = kernels.Find(key)) …
#ifndef KILN_COMPILER_LOWER_KNOWN_KERNELS_H_
#define KILN_COMPILER_LOWER_KNOWN_KERNELS_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/loop/stage.h"
#include "compiler/schedule/schedule.h"
#include "compiler/schedule/tensor_memory.h"

namespace kiln {

class KnownKernels {
 public:
  // Returns a key that is equal for kernels with the same computation, constants and layout of
  // arguments. Returns nothing if the kernel has checks. Large tensors are compared by address, so
  // the key is valid while the kernel's tensors exist. `memory` is the information about tensors
  // that the schedule gets, if any.
  static std::optional<std::string> KeyOf(const loop::Kernel& kernel,
                                          const std::optional<TensorMemory>& memory);

  // Returns the function with that key and its constants, or null if there is none.
  const Scheduled* Find(const std::optional<std::string>& key) const;
  // Adds the function `scheduled` of `kernel`. `key` is the kernel's key.
  void Add(std::optional<std::string> key, const loop::Kernel& kernel, Scheduled scheduled);

 private:
  struct Known {
    Scheduled scheduled;
    std::vector<loop::Constant> constants;  // of the kernel; they exist as long as the key
  };
  std::map<std::string, Known> known_;
};

}  // namespace kiln

#endif  // KILN_COMPILER_LOWER_KNOWN_KERNELS_H_
