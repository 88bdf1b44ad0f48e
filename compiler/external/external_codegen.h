// SPDX-License-Identifier: Apache-2.0
// ExternalCodegen: a code generator that takes subgraphs of a model in place of Kiln's own. A
// registration defines which subgraphs it takes and how they become a module.
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
// A library with such a line is built with alwayslink. Linking it makes `--external mine`
// available. docs/external_codegen.md is a walk through an example.
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

// An operator that the generator takes if `check` returns OK. Otherwise `check` says what is wrong
// with the attributes or types. Null: the generator always takes it.
struct ExternalOp {
  std::string op;
  absl::Status (*check)(const Graph& graph, const Node& node) = nullptr;
};

struct PatternStep {
  std::vector<std::string> ops;  // any of these
  bool optional = false;
};

// A chain of operators that the generator takes as one: each step reads the result of the previous
// step, which nothing else reads. A match has as many optional steps as possible. `check` gets the
// matched nodes in order. If it rejects them, optional steps are removed from the end and it is
// called again.
struct ExternalPattern {
  std::string name;  // "dnnl.conv2d": name of the group in the body of the subgraph
  std::vector<PatternStep> steps;
  absl::Status (*check)(const Graph& graph, const std::vector<const Node*>& nodes) = nullptr;
};

// One subgraph. Constants that it reads are inside of the body. Every input is read by an operator,
// and every output is the result of one. A match of a pattern is a group with the attribute
// Composite, the pattern's name; the group's body has its operators.
struct ExternalSubgraph {
  std::string symbol;  // "tvmgen_my_mod_dnnl_main_0"
  const Graph* body = nullptr;
};

// Input of `generate`: all subgraphs of one model that a generator has taken, perhaps none.
struct ExternalRequest {
  std::string module_name;  // module name of the model
  std::vector<ExternalSubgraph> subgraphs;
  // Calling convention of the C functions: TVMBackendPackedCFunc if true, otherwise `int32_t
  // f(void* in0, …, void* out0, …)`.
  bool packed = true;
  // The C calls the runtime through pointers that the loader of a shared object sets (docs/abi.md).
  bool loader_pointers = false;
};

struct ExternalCodegen {
  std::string name;  // lower case letters, digits and '_': "csource"
  std::string doc;
  bool linkable = true;  // true: its modules are C source; false: bytes for a loader
  std::vector<ExternalOp> ops = {};
  std::vector<ExternalPattern> patterns = {};
  // Makes the modules. At most one of them is C source. A linkable generator returns that one even
  // if there are no subgraphs, so that the files of a build do not depend on the model.
  absl::StatusOr<std::vector<ExternalModule>> (*generate)(const ExternalRequest& request) = nullptr;
};

// The generator with this name, or null.
const ExternalCodegen* FindExternalCodegen(absl::string_view name);
// InvalidArgument: there is no generator with this name. The message lists the linked ones.
absl::Status UnknownExternalCodegen(absl::string_view name);
// All linked generators, ordered by name.
std::vector<const ExternalCodegen*> AllExternalCodegens();
// OK if the generator takes this node by its table of operators, otherwise an error with the
// reason.
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
