// SPDX-License-Identifier: Apache-2.0
// ExternalCodegen: a code generator that takes subgraphs of a model instead of Kiln's own. One
// registration says which subgraphs it takes and how they become a module.
//
//   const ExternalCodegen kMine = {
//       .name = "mine",
//       .doc = "what it is for",
//       .ops = {{"add", CheckFloat}, {"nn.relu", CheckFloat}},
//       .patterns = {{"mine.conv2d",
//                     {{{"nn.conv2d"}}, {{"nn.relu"}, .optional = true}},
//                     CheckConv}},
//       .generate = Generate,
//   };
//   KILN_REGISTER_EXTERNAL_CODEGEN(kMine);
//
// A library with such a line is built with alwayslink; where it is linked, `--external mine` is
// known. docs/external_codegen.md is a walk through an example.
#ifndef KILN_COMPILER_EXTERNAL_EXTERNAL_CODEGEN_H_
#define KILN_COMPILER_EXTERNAL_EXTERNAL_CODEGEN_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/external/external_module.h"
#include "compiler/graph/graph.h"

namespace kiln {

// An operator that the generator takes wherever `check` finds nothing wrong with its attributes and
// types; otherwise `check` says why not. Null: always.
struct ExternalOp {
  std::string op;
  absl::Status (*check)(const Graph& graph, const Node& node) = nullptr;
};

struct PatternStep {
  std::vector<std::string> ops;  // any of these
  bool optional = false;
};

// A chain of operators that the generator takes as one: each step reads the result of the step
// before, which nothing else reads. Of optional steps as many as can be had are taken. `check` sees
// the nodes that were found, in order; where it refuses them, fewer are tried.
struct ExternalPattern {
  std::string name;  // "dnnl.conv2d": what the group is called in the body of the subgraph
  std::vector<PatternStep> steps;
  absl::Status (*check)(const Graph& graph, const std::vector<const Node*>& nodes) = nullptr;
};

// One subgraph. Constants that it reads are inside of the body; every input is read by an operator,
// and every output is the result of one. A match of a pattern is a group
// with the attribute Composite, the pattern's name; its operators are in that group's body.
struct ExternalSubgraph {
  std::string symbol;  // "tvmgen_my_mod_dnnl_main_0"
  const Graph* body = nullptr;
};

// What modules are made of: all subgraphs of one model that a generator has taken, perhaps none.
struct ExternalRequest {
  std::string module_name;  // the model's
  std::vector<ExternalSubgraph> subgraphs;
  // How C functions are called: TVMBackendPackedCFunc, or `int32_t f(void* in0, …, void* out0, …)`.
  bool packed = true;
  // C reaches the runtime through pointers that the loader of a shared object sets (docs/abi.md).
  bool loader_pointers = false;
};

struct ExternalCodegen {
  std::string name;  // lower case letters, digits and '_': "csource"
  std::string doc;
  bool linkable = true;  // its modules are C source; otherwise they are bytes for a loader
  std::vector<ExternalOp> ops = {};
  std::vector<ExternalPattern> patterns = {};
  // Among the modules that it returns at most one is C source; that one is returned even where
  // there are no subgraphs, so that a build knows which files there will be.
  absl::StatusOr<std::vector<ExternalModule>> (*generate)(const ExternalRequest& request) = nullptr;
};

// Null if there is none.
const ExternalCodegen* FindExternalCodegen(absl::string_view name);
// InvalidArgument: there is no such generator, but these are.
absl::Status UnknownExternalCodegen(absl::string_view name);
// All that are linked, ordered by name.
std::vector<const ExternalCodegen*> AllExternalCodegens();
// OK if the generator takes this node by its table of operators; else why not.
absl::Status CheckOp(const ExternalCodegen& codegen, const Graph& graph, const Node& node);

namespace internal {
struct ExternalRegistration {
  explicit ExternalRegistration(const ExternalCodegen& codegen);
};
}  // namespace internal

#define KILN_REGISTER_EXTERNAL_CODEGEN(codegen) \
  static const ::kiln::internal::ExternalRegistration kiln_registration_##codegen(codegen)

}  // namespace kiln

#endif  // KILN_COMPILER_EXTERNAL_EXTERNAL_CODEGEN_H_
