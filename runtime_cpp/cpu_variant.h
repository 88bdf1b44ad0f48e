// SPDX-License-Identifier: Apache-2.0
//
// CPU variants: a library may have code of a model for several kinds of CPU. It runs the best
// variant that the CPU supports. ModelMetadata::cpu_variants() lists them.
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

// Returns the variant that the model of this module runs. NotFound if its code is for one target.
// If the CPU lacks a feature of the lowest variant, returns the library's error, as a run of the
// model does.
absl::StatusOr<std::string> CpuVariant(const Module& module);

// Makes runs that begin after this call use another variant, for all models of this library in all
// threads. Returns the library's error if it has no variant of that name or the CPU lacks a feature
// of it.
absl::Status SetCpuVariant(const Module& module, const std::string& name);

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_CPU_VARIANT_H_
