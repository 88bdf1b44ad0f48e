// SPDX-License-Identifier: Apache-2.0
// CPU variants: a model lowered for several targets. All code is in one library, which runs the
// best variant that the CPU supports. Rationale: docs/decisions/0013-cpu-variants.md.
//
//   KILN_ASSIGN_OR_RETURN(LoweredVariants variants, LowerVariants(fused, targets, options, known));
//   … `program` is made of variants.common, and AddCpuChoice and the executor add to it …
//   SplitByVariant(variants, program);
#ifndef KILN_COMPILER_VARIANTS_VARIANTS_H_
#define KILN_COMPILER_VARIANTS_VARIANTS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/graph/graph.h"
#include "compiler/loop/loop.h"
#include "compiler/lower/known_kernels.h"
#include "compiler/lower/lower.h"
#include "compiler/target/target.h"

namespace kiln {

struct LoweredVariants {
  // The model as callers see it. Functions are those of the last variant, with the largest
  // workspace of all variants. Constants are those of all variants; equal ones occur once.
  Lowered common;
  // The functions of `common`, in the same order, for each variant.
  std::vector<std::vector<loop::Func>> funcs;
};

// `targets` are one, or as CheckCpuVariants wants them. `known` has the kernels of each target.
absl::StatusOr<LoweredVariants> LowerVariants(const Graph& fused,
                                              const std::vector<Target>& targets,
                                              const LowerOptions& options,
                                              std::vector<KnownKernels>& known);

// Adds the functions that choose a variant. `get` and `set` are those of CpuChoice.
absl::Status AddCpuChoice(const std::vector<Target>& targets, const std::string& module_name,
                          const std::string& get, const std::string& set, bool packed,
                          loop::LoopProgram& program);

// Duplicates functions per CPU variant. `program` is made of variants.common and has a CpuChoice.
// If operator functions are exported, each becomes a dispatcher that calls the chosen variant's
// copy. Otherwise only the model function dispatches, and each copy of it calls the operator
// functions of the same variant. Data and helpers are shared by all variants.
void SplitByVariant(const LoweredVariants& variants, loop::LoopProgram& program);

}  // namespace kiln

#endif  // KILN_COMPILER_VARIANTS_VARIANTS_H_
