// SPDX-License-Identifier: Apache-2.0
// ModelPage: a model as it is compiled, as one page: graph, memory over the calls, flash by
// operator and constant, times of a profile, quantisation.
//
//   const std::string page = ModelPage({.stages = &stages, .version = kVersion});
#ifndef KILN_TOOLS_PAGES_MODEL_PAGE_H_
#define KILN_TOOLS_PAGES_MODEL_PAGE_H_

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/statusor.h"
#include "compiler/pipeline/compile.h"
#include "tools/compare/quantization.h"

namespace kiln::tools {

struct ModelPageInput {
  const Stages* stages = nullptr;  // with the fused graph
  std::string version;             // Kiln's
  TensorScales scales = {};        // of the model's quantised tensors
  // Bytes of machine code by function; none where no object was made.
  std::map<std::string, int64_t> code_bytes = {};
  // Seconds of one run by function, of a profile; none without one.
  std::map<std::string, double> seconds = {};
};

// What the page shows, as JSON: `calls`, `tensors`, `pools`, `constants` and `quantization`.
nlohmann::ordered_json ModelJson(const ModelPageInput& input);

// A page of HTML that needs no other file and no network.
std::string ModelPage(const ModelPageInput& input);

// The seconds by function of the model from what `kiln bench --profile --json` has printed; the
// module may have another name there. InvalidArgument for other texts, and where no function of the
// profile is one of the model.
absl::StatusOr<std::map<std::string, double>> ProfiledSeconds(const std::string& json,
                                                              const Stages& stages);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_PAGES_MODEL_PAGE_H_
