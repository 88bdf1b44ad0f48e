// SPDX-License-Identifier: Apache-2.0
// KnownKernels: functions by what they compute. A network that is written out step by step has the
// same operator over the same weights in each step: it is scheduled once.
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
  // What kernels have in common that compute the same with the same constants, where arguments lie
  // alike; nothing for a kernel that checks what it reads. Large tensors are told apart by their
  // memory, so the key holds for as long as the kernel's live. `memory` is what schedules learn of
  // tensors, if anything.
  static std::optional<std::string> KeyOf(const loop::Kernel& kernel,
                                          const std::optional<TensorMemory>& memory);

  // The function of a kernel with that key, and the constants that it reads; null if there is none.
  const Scheduled* Find(const std::optional<std::string>& key) const;
  // `scheduled` is the function of `kernel`, whose key is `key`.
  void Add(std::optional<std::string> key, const loop::Kernel& kernel, Scheduled scheduled);

 private:
  struct Known {
    Scheduled scheduled;
    std::vector<loop::Constant> constants;  // of the kernel, so that they live as long as the key
  };
  std::map<std::string, Known> known_;
};

}  // namespace kiln

#endif  // KILN_COMPILER_LOWER_KNOWN_KERNELS_H_
