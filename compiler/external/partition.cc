// SPDX-License-Identifier: Apache-2.0
#include "compiler/external/partition.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/module_prefix.h"
#include "compiler/base/status.h"
#include "compiler/external/contract.h"
#include "compiler/external/mark.h"
#include "compiler/external/regions.h"
#include "compiler/graph/external_node.h"

namespace kiln {
namespace {

std::vector<Cluster> Clusters(const Graph& graph,
                              const std::vector<const ExternalCodegen*>& codegens) {
  const std::vector<Mark> marks = MarkNodes(graph, codegens);
  std::vector<Cluster> clusters;
  for (const std::vector<int>& region : MergeMarks(graph, marks)) {
    Cluster& cluster = clusters.emplace_back();
    for (int number : region) {
      const Mark& mark = marks[static_cast<size_t>(number)];
      cluster.attrs.Set("Compiler", codegens[static_cast<size_t>(mark.codegen)]->name);
      cluster.nodes.insert(cluster.nodes.end(), mark.nodes.begin(), mark.nodes.end());
      if (mark.pattern.empty()) continue;
      Cluster match{.nodes = mark.nodes, .attrs = {}};
      match.attrs.Set("Composite", mark.pattern);
      match.attrs.Set("Primitive", 1);
      cluster.inner.push_back(std::move(match));
    }
    std::sort(cluster.nodes.begin(), cluster.nodes.end());
  }
  return clusters;
}

// Moves constant inputs of a subgraph into its body. Only subgraphs that the model came with have
// any.
void TakeConstantsInside(const Graph& graph, Node& node) {
  Graph body = *node.body;
  std::vector<ValueId> inputs, params;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const ValueId input = node.inputs[i], param = body.inputs[i];
    if (!graph.is_constant(input)) {
      inputs.push_back(input);
      params.push_back(param);
      continue;
    }
    body.value(param).kind = ValueKind::kConstant;
    body.value(param).constant = graph.value(input).constant;
  }
  node.inputs = std::move(inputs);
  body.inputs = std::move(params);
  node.body = std::make_shared<const Graph>(std::move(body));
}

}  // namespace

absl::StatusOr<Graph> Partition(const Graph& graph, const std::string& module_name,
                                const std::vector<const ExternalCodegen*>& codegens) {
  Graph result = Contract(graph, Clusters(graph, codegens));
  std::map<std::string, int> counts;
  for (Node& node : result.nodes) {
    const std::string compiler(ExternalCompiler(node));
    if (compiler.empty()) continue;
    const bool listed = std::any_of(codegens.begin(), codegens.end(),
                                    [&](const auto* c) { return c->name == compiler; });
    if (!listed && FindExternalCodegen(compiler) == nullptr) {
      return Annotate(UnknownExternalCodegen(compiler),
                      absl::StrCat(node.source.ToString(), "Compiler=\"", compiler, "\": "));
    }
    TakeConstantsInside(result, node);
    node.attrs.Set("global_symbol", absl::StrCat(ModulePrefix(module_name), "_", compiler, "_main_",
                                                 counts[compiler]++));
  }
  return result;
}

}  // namespace kiln
