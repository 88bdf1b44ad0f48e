// SPDX-License-Identifier: Apache-2.0
// Makes modules of the external subgraphs of a partitioned graph.
#ifndef KILN_COMPILER_EXTERNAL_GENERATE_H_
#define KILN_COMPILER_EXTERNAL_GENERATE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/external/external_codegen.h"
#include "compiler/graph/graph.h"

namespace kiln {

// A generator that the user has chosen.
struct ExternalChoice {
  const ExternalCodegen* codegen = nullptr;
  std::string device = {};  // an identifier: its hooks are called around the functions
};

// Parses one element of --external: "csource" or "csource:device=npu". InvalidArgument for anything
// else; the message for an unknown generator lists the linked ones.
absl::StatusOr<ExternalChoice> ParseExternalChoice(absl::string_view text);
// Parses all elements of --external. InvalidArgument also if a generator occurs twice.
absl::StatusOr<std::vector<ExternalChoice>> ParseExternals(const std::vector<std::string>& texts);

struct GenerateOptions {
  std::string module_name;
  bool packed = true;
  bool loader_pointers = false;
};

// Returns the modules of all generators that are chosen or that the graph names, the chosen ones
// first. InvalidArgument for a subgraph
// - whose generator is not linked;
// - whose name is not of the form tvmgen_<module>_<generator>_…, or is not unique;
// - that is called with a constant;
// - with an operator that its generator does not take;
// - with an input that it does not read, or an output that it does not compute.
// Errors of a generator are prefixed with its name.
absl::StatusOr<std::vector<ExternalModule>> GenerateExternalModules(
    const Graph& graph, const std::vector<ExternalChoice>& choices, const GenerateOptions& options);

// InvalidArgument, with module, type and runtime, if the C runtime does not support one of them.
absl::Status CheckModulesForCrt(const std::vector<ExternalModule>& modules);

}  // namespace kiln

#endif  // KILN_COMPILER_EXTERNAL_GENERATE_H_
