// SPDX-License-Identifier: Apache-2.0
// CPU variants: a model lowered for several targets, whose code is in one library that runs the
// best that the CPU has. docs/decisions/0013-cpu-variants.md says why it is made so.
//
//   KILN_ASSIGN_OR_RETURN(LoweredVariants variants, LowerVariants(fused, targets, options));
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
#include "compiler/lower/lower.h"
#include "compiler/target/target.h"

namespace kiln {

struct LoweredVariants {
  // The model as callers see it. Functions are those of the last variant, with the scratch memory
  // that any of them needs; constants are those of all variants, equal ones once.
  Lowered common;
  // Per variant the functions of `common`, in the same order.
  std::vector<std::vector<loop::Func>> funcs;
};

// `targets` are one, or as CheckCpuVariants wants them.
absl::StatusOr<LoweredVariants> LowerVariants(const Graph& fused,
                                              const std::vector<Target>& targets,
                                              const LowerOptions& options);

// Gives the program the functions that choose a variant; `get` and `set` as in CpuChoice.
absl::Status AddCpuChoice(const std::vector<Target>& targets, const std::string& module_name,
                          const std::string& get, const std::string& set, bool packed,
                          loop::LoopProgram& program);

// Gives the program, which is made of variants.common and has a CpuChoice, the code of all
// variants. An operator function that is exported runs the one of the variant that is chosen; where
// none is, so does the model's function, and each of its variants calls the operator functions of
// its own. All else is for every CPU.
void SplitByVariant(const LoweredVariants& variants, loop::LoopProgram& program);

}  // namespace kiln

#endif  // KILN_COMPILER_VARIANTS_VARIANTS_H_
