// SPDX-License-Identifier: Apache-2.0
//
// CPU variants: a library may hold the code of a model for several kinds of CPU, and runs the best
// that the CPU has. ModelMetadata::cpu_variants() names them all.
//
//   absl::StatusOr<std::string> variant = CpuVariant(module);   // "x86-64-v3"
//   absl::Status status = SetCpuVariant(module, "x86-64-v2");   // to compare results
#ifndef KILN_RUNTIME_CPP_CPU_VARIANT_H_
#define KILN_RUNTIME_CPP_CPU_VARIANT_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime_cpp/module.h"

namespace kiln::runtime {

// The variant that the model of this module runs. NotFound if its code is for one target; the
// library's error if the CPU has not what the lowest variant needs, which running the model gives
// too.
absl::StatusOr<std::string> CpuVariant(const Module& module);

// Lets runs of the model that begin from now on use another variant: all of this library's, in all
// threads. The library's error if it has no variant of that name, or the CPU not what it needs.
absl::Status SetCpuVariant(const Module& module, const std::string& name);

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_CPU_VARIANT_H_
