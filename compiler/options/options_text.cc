// SPDX-License-Identifier: Apache-2.0
// OptionsText. Structured bindings name every field of the option structs, so that a new field does
// not compile until it is added here.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/external/external_codegen.h"
#include "compiler/options/options.h"

namespace kiln {
namespace {

class TextWriter {
 public:
  template <typename... Parts>
  void Add(absl::string_view name, const Parts&... parts) {
    absl::StrAppend(&text_, name, "=", parts..., "\n");
  }
  std::string Take() { return std::move(text_); }

 private:
  std::string text_;
};

void AddTarget(absl::string_view name, const Target& target, TextWriter& out) {
  out.Add(name, target.name, " ", target.triple, " ", target.cpu, " ", target.features, " ",
          target.abi, " ", target.cores);
}

void AddPools(absl::string_view name, const std::vector<PoolSpec>& pools, TextWriter& out) {
  for (const auto& [pool, limit_bytes, alignment_bytes, speed] : pools) {
    out.Add(name, pool, ":", limit_bytes, ":", alignment_bytes, ":", speed);
  }
}

void AddSchedule(const ScheduleOptions& options, TextWriter& out) {
  // `replan`, a hook of tests, changes no result and is not part of the text.
  const auto& [tuning, max_candidates, naive, winograd, bfloat16_products, optimize, replan,
               passes] = options;
  if (tuning != nullptr) out.Add("tuning", tuning->sha256);
  out.Add("max-candidates", max_candidates);
  out.Add("naive", naive);
  out.Add("winograd", winograd);
  out.Add("bfloat16-products", bfloat16_products);
  out.Add("optimize", SpellingOf(optimize));
  out.Add("disabled-loop-passes", absl::StrJoin(passes.disabled, ","));
}

}  // namespace

std::string OptionsText(const CompileOptions& options) {
  const auto& [module_name, executor, runtime, interface, calling_convention, codegen, target,
               cpu_variants, threads, passes, system_lib, profile, check_indices, c_constants,
               pools, constant_pools, workspace_io, overlap, externals, schedule, origin] = options;
  TextWriter out;
  out.Add("module-name", module_name);
  out.Add("executor", SpellingOf(executor));
  out.Add("runtime", SpellingOf(runtime));
  out.Add("interface", SpellingOf(interface));
  out.Add("calling-convention", SpellingOf(calling_convention));
  out.Add("codegen", SpellingOf(codegen));
  AddTarget("target", target, out);
  for (const Target& variant : cpu_variants) AddTarget("cpu-variant", variant, out);
  out.Add("threads", threads);
  out.Add("disabled-passes", absl::StrJoin(passes.disabled, ","));
  out.Add("system-lib", system_lib);
  out.Add("profile", profile);
  out.Add("check-indices", check_indices);
  out.Add("c-constants", SpellingOf(c_constants));
  AddPools("pool", pools, out);
  AddPools("constant-pool", constant_pools, out);
  out.Add("workspace-io", workspace_io);
  out.Add("overlap", overlap);
  for (const auto& [external, device] : externals) out.Add("external", external->name, ":", device);
  AddSchedule(schedule, out);
  return absl::StrCat(origin.import_options, out.Take());
}

}  // namespace kiln
