// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/make_model_page.h"

#include <utility>

#include "compiler/backend/backend.h"
#include "compiler/base/kiln_version.h"
#include "compiler/base/limits.h"
#include "compiler/base/status.h"
#include "tools/judge/quantization.h"
#include "tools/kiln/files.h"
#include "tools/kiln/object_report.h"
#include "tools/pages/model_page.h"

namespace kiln::tools {
namespace {

constexpr int64_t kMaxProfileBytes = int64_t{256} << 20;

// Returns the bytes of machine code in an object of the model, keyed by function.
absl::StatusOr<std::map<std::string, int64_t>> CodeBytes(const Compilation& compilation,
                                                         const CompileOptions& options) {
  std::map<std::string, int64_t> bytes;
  if (options.runtime != Runtime::kCrt || !HasCodegen(Codegen::kLlvm)) return bytes;
  KILN_ASSIGN_OR_RETURN(const Artifacts artifacts, EmitCode(compilation.program, options));
  const auto object = artifacts.find(options.module_name + ".o");
  if (object == artifacts.end()) return bytes;
  KILN_ASSIGN_OR_RETURN(const ObjectFigures figures, MeasureObject(object->second, {}));
  for (const ObjectPart& part : figures.flash_parts) bytes[part.name] = part.size_bytes;
  return bytes;
}

}  // namespace

absl::StatusOr<std::string> MakeModelPage(const std::string& path, const Graph& graph,
                                          const Compilation& compilation,
                                          const CompileOptions& options,
                                          const std::optional<std::string>& profile) {
  ModelPageInput input{.compilation = &compilation, .version = kKilnVersion};
  KILN_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path, kMaxModelFileBytes));
  KILN_ASSIGN_OR_RETURN(input.scales, ScalesOf(graph, bytes, path));
  KILN_ASSIGN_OR_RETURN(input.code_bytes, CodeBytes(compilation, options));
  if (profile.has_value()) {
    KILN_ASSIGN_OR_RETURN(const std::string text, ReadFileOrPipe(*profile, kMaxProfileBytes));
    absl::StatusOr<std::map<std::string, double>> seconds = ProfiledSeconds(text, compilation);
    if (!seconds.ok()) return Annotate(seconds.status(), "--profile " + *profile + ": ");
    input.seconds = *std::move(seconds);
  }
  return ModelPage(input);
}

}  // namespace kiln::tools
