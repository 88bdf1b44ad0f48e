// SPDX-License-Identifier: Apache-2.0
// From the external subgraphs of a partitioned graph to modules.
#ifndef KILN_COMPILER_EXTERNAL_GENERATE_H_
#define KILN_COMPILER_EXTERNAL_GENERATE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/external/external_codegen.h"
#include "compiler/graph/graph.h"

namespace kiln {

// A generator that the user has asked for.
struct ExternalChoice {
  const ExternalCodegen* codegen = nullptr;
  std::string device = {};  // an identifier: whose hooks are called around its functions
};

// One element of --external: "csource" or "csource:device=npu". InvalidArgument that lists the
// generators that there are.
absl::StatusOr<ExternalChoice> ParseExternalChoice(absl::string_view text);
// All of them; InvalidArgument also if one comes twice.
absl::StatusOr<std::vector<ExternalChoice>> ParseExternals(const std::vector<std::string>& texts);

struct GenerateOptions {
  std::string module_name;
  bool packed = true;
  bool loader_pointers = false;
};

// The modules of all generators that are chosen or that the graph names, the chosen ones first.
// InvalidArgument if a subgraph has no generator here, no name of the form
// tvmgen_<module>_<generator>_… or that of another, an operator that its generator does not take,
// an input that nothing reads or an output that is not computed in it; what a generator itself
// returns has its name put before.
absl::StatusOr<std::vector<ExternalModule>> GenerateExternalModules(
    const Graph& graph, const std::vector<ExternalChoice>& choices, const GenerateOptions& options);

// InvalidArgument, naming module, type and runtime, if the C runtime cannot take one of them.
absl::Status CheckModulesForCrt(const std::vector<ExternalModule>& modules);

}  // namespace kiln

#endif  // KILN_COMPILER_EXTERNAL_GENERATE_H_
