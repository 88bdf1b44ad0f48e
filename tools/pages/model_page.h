// SPDX-License-Identifier: Apache-2.0
// ModelPage: a compiled model as one page: graph, memory over the calls, flash by operator and
// constant, times of a profile, quantization.
//
//   const std::string page = ModelPage({.compilation = &compilation, .version = kVersion});
#ifndef KILN_TOOLS_PAGES_MODEL_PAGE_H_
#define KILN_TOOLS_PAGES_MODEL_PAGE_H_

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/statusor.h"
#include "compiler/pipeline/compile.h"
#include "tools/judge/quantization.h"

namespace kiln::tools {

struct ModelPageInput {
  const Compilation* compilation = nullptr;  // with the fused graph
  std::string version;                       // of Kiln
  TensorScales scales = {};                  // of the model's quantized tensors
  // Bytes of machine code, keyed by function. Empty if there is no object.
  std::map<std::string, int64_t> code_bytes = {};
  // Seconds of one profiled run, keyed by function. Empty without a profile.
  std::map<std::string, double> seconds = {};
};

// Returns the contents of the page as JSON: `calls`, `tensors`, `pools`, `constants` and
// `quantization`.
nlohmann::ordered_json ModelJson(const ModelPageInput& input);

// Returns a self-contained HTML page that needs no network.
std::string ModelPage(const ModelPageInput& input);

// Returns the seconds in the output of `kiln bench --profile --json`, keyed by function of the
// model. The profiled module may have another name. InvalidArgument for other texts, and if no
// function of the profile belongs to the model.
absl::StatusOr<std::map<std::string, double>> ProfiledSeconds(const std::string& json,
                                                              const Compilation& compilation);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_PAGES_MODEL_PAGE_H_
