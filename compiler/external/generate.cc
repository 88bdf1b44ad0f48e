// SPDX-License-Identifier: Apache-2.0
#include "compiler/external/generate.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "compiler/base/identifier.h"
#include "compiler/base/module_prefix.h"
#include "compiler/base/status.h"
#include "compiler/graph/external_node.h"

namespace kiln {
namespace {

constexpr int kExtDev = 12;  // DLDeviceType

// True if the nodes of the body are the steps of the pattern, in order; optional steps may be
// absent.
bool FitsSteps(const ExternalPattern& pattern, const Graph& body) {
  size_t next = 0;
  for (const PatternStep& step : pattern.steps) {
    const bool fits =
        next < body.nodes.size() &&
        std::find(step.ops.begin(), step.ops.end(), body.nodes[next].op_name()) != step.ops.end();
    if (!fits && !step.optional) return false;
    next += fits ? 1 : 0;
  }
  return next == body.nodes.size();
}

// True if each node reads the previous one exactly once, nothing else reads that, and only the last
// one is an output.
bool IsChain(const Graph& body) {
  for (size_t i = 0; i < body.nodes.size(); ++i) {
    const Node& node = body.nodes[i];
    if (node.outputs.size() != 1) return false;
    size_t computed = 0;
    for (ValueId input : node.inputs) {
      if (body.value(input).kind != ValueKind::kNodeOutput) continue;
      if (i == 0 || input != body.nodes[i - 1].outputs[0]) return false;
      ++computed;
    }
    if (computed != (i == 0 ? 0 : 1)) return false;
  }
  return body.outputs == body.nodes.back().outputs;
}

// Checks that each input is read by an operator and each output is the result of one. Generators
// check the types of operands and results, so other values would be unchecked.
absl::Status CheckParameters(const Graph& body) {
  std::set<ValueId> read;
  for (const Node& node : body.nodes) read.insert(node.inputs.begin(), node.inputs.end());
  for (ValueId input : body.inputs) {
    if (read.count(input) != 0) continue;
    return absl::InvalidArgumentError(absl::StrCat("no operator of the subgraph reads its input %",
                                                   body.value(input).name, "; leave it out"));
  }
  for (size_t i = 0; i < body.outputs.size(); ++i) {
    if (body.value(body.outputs[i]).kind == ValueKind::kNodeOutput) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("output ", i, " of the subgraph is not computed in it; leave it out"));
  }
  return absl::OkStatus();
}

// OK if the group is a match of a pattern, otherwise an error with the reason.
absl::Status CheckMatch(const ExternalCodegen& codegen, const Graph& graph, const Node& match) {
  const AttrValue& name = match.attrs.Get("Composite");
  const auto pattern =
      std::find_if(codegen.patterns.begin(), codegen.patterns.end(),
                   [&](const ExternalPattern& p) { return name == AttrValue(p.name); });
  const std::string what = absl::StrCat(codegen.name, ": Composite=", name.ToString(), ": ");
  if (pattern == codegen.patterns.end()) {
    return absl::InvalidArgumentError(absl::StrCat(what, "there is no such pattern"));
  }
  const bool closed = std::none_of(match.inputs.begin(), match.inputs.end(),
                                   [&](ValueId v) { return graph.is_constant(v); });
  if (!closed || !FitsSteps(*pattern, *match.body) || !IsChain(*match.body)) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, "the body is not the chain of operators that the pattern is"));
  }
  KILN_RETURN_IF_ERROR(Annotate(CheckParameters(*match.body), what));
  std::vector<const Node*> nodes;
  for (const Node& node : match.body->nodes) nodes.push_back(&node);
  return pattern->check == nullptr ? absl::OkStatus()
                                   : Annotate(pattern->check(*match.body, nodes), what);
}

// Checks that the generator takes all operators of the body. Partition ensures this for the
// subgraphs that it makes, but a model may have subgraphs of its own.
absl::Status CheckBody(const ExternalCodegen& codegen, const Graph& body) {
  KILN_RETURN_IF_ERROR(CheckParameters(body));
  for (const Node& node : body.nodes) {
    KILN_RETURN_IF_ERROR(
        Annotate(node.is_group() ? CheckMatch(codegen, body, node) : CheckOp(codegen, body, node),
                 node.source.ToString()));
  }
  return absl::OkStatus();
}

// Internal if the modules violate the contract of ExternalCodegen.
absl::Status CheckGenerated(const ExternalCodegen& codegen,
                            const std::vector<ExternalSubgraph>& subgraphs,
                            const std::vector<ExternalModule>& modules) {
  const auto broken = [&](absl::string_view what) {
    return absl::InternalError(absl::StrCat("external code generator ", codegen.name, ": ", what));
  };
  std::set<std::string> wanted, made;
  for (const ExternalSubgraph& subgraph : subgraphs) wanted.insert(subgraph.symbol);
  for (const ExternalModule& module : modules) {
    if (module.is_linkable() != codegen.linkable) {
      return broken("a module is linkable where the generator is not, or the other way round");
    }
    if (module.codegen != codegen.name) return broken("a module says that it is another's");
    if (module.is_linkable() && module.needs_constants()) {
      return broken("a module of C source holds its constants itself");
    }
    for (const ExternalFunction& function : module.functions) made.insert(function.name);
  }
  if (made != wanted) return broken("its modules do not have the functions of the subgraphs");
  if (codegen.linkable && modules.size() != 1) return broken("its C source is not one module");
  return absl::OkStatus();
}

// Bytes of the constants with more than one element. Others become literals.
int64_t ConstantBytes(const Graph& body) {
  int64_t bytes = 0;
  for (ValueId value = 0; value < static_cast<ValueId>(body.values.size()); ++value) {
    const TensorType& type = body.type(value);
    if (body.is_constant(value) && type.num_elements() > 1) bytes += type.num_bytes();
  }
  for (const Node& node : body.nodes) {
    if (node.is_group()) bytes += ConstantBytes(*node.body);
  }
  return bytes;
}

class Collector {
 public:
  Collector(const std::vector<ExternalChoice>& choices, std::string module_name)
      : module_name_(std::move(module_name)) {
    for (const ExternalChoice& choice : choices) Add(*choice.codegen);
  }

  absl::Status Collect(const Graph& graph) {
    for (const Node& node : graph.nodes) {
      const absl::string_view compiler = ExternalCompiler(node);
      if (compiler.empty()) continue;
      const std::string where = absl::StrCat(node.source.ToString(), "Compiler=\"", compiler,
                                             "\", global_symbol=\"", ExternalSymbol(node), "\": ");
      KILN_RETURN_IF_ERROR(Annotate(CollectNode(graph, compiler, node), where));
    }
    return absl::OkStatus();
  }

  const std::vector<const ExternalCodegen*>& codegens() const { return codegens_; }
  const std::vector<ExternalSubgraph>& subgraphs(size_t i) const { return subgraphs_[i]; }

 private:
  size_t Add(const ExternalCodegen& codegen) {
    const auto it = std::find(codegens_.begin(), codegens_.end(), &codegen);
    if (it != codegens_.end()) return static_cast<size_t>(it - codegens_.begin());
    codegens_.push_back(&codegen);
    subgraphs_.emplace_back();
    return codegens_.size() - 1;
  }

  // Checks the function's name. It becomes a symbol next to those of the model, its runtime and the
  // application, so it needs the prefix.
  absl::Status CheckSymbol(absl::string_view compiler, const std::string& symbol) {
    const std::string prefix = absl::StrCat(ModulePrefix(module_name_), "_", compiler, "_");
    if (!IsIdentifier(symbol) || !absl::StartsWith(symbol, prefix)) {
      return absl::InvalidArgumentError(
          absl::StrCat("the function's name is no C identifier that begins with ", prefix,
                       "; the pass partition gives it one"));
    }
    if (symbols_.insert(symbol).second) return absl::OkStatus();
    return absl::InvalidArgumentError("another subgraph has the same name");
  }

  absl::Status CollectNode(const Graph& graph, absl::string_view compiler, const Node& node) {
    // A chosen generator need not be registered.
    const auto chosen = std::find_if(codegens_.begin(), codegens_.end(),
                                     [&](const auto* c) { return c->name == compiler; });
    const ExternalCodegen* codegen =
        chosen != codegens_.end() ? *chosen : FindExternalCodegen(compiler);
    if (codegen == nullptr) return UnknownExternalCodegen(compiler);
    const std::string symbol(ExternalSymbol(node));
    KILN_RETURN_IF_ERROR(CheckSymbol(compiler, symbol));
    const auto is_constant = [&](ValueId value) { return graph.is_constant(value); };
    if (std::any_of(node.inputs.begin(), node.inputs.end(), is_constant)) {
      return absl::InvalidArgumentError(
          "it is called with a constant, which the pass partition takes inside; run that pass");
    }
    KILN_RETURN_IF_ERROR(CheckBody(*codegen, *node.body));
    subgraphs_[Add(*codegen)].push_back({.symbol = symbol, .body = node.body.get()});
    return absl::OkStatus();
  }

  const std::string module_name_;
  std::vector<const ExternalCodegen*> codegens_;
  std::vector<std::vector<ExternalSubgraph>> subgraphs_;  // by index in codegens_
  std::set<std::string> symbols_;
};

}  // namespace

absl::StatusOr<ExternalChoice> ParseExternalChoice(absl::string_view text) {
  constexpr absl::string_view kDevice = "device=";
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(text, absl::MaxSplits(':', 1));
  ExternalChoice choice{.codegen = FindExternalCodegen(parts.first)};
  if (choice.codegen == nullptr) {
    return Annotate(UnknownExternalCodegen(parts.first), "--external: ");
  }
  if (parts.first.size() == text.size()) return choice;
  choice.device = std::string(absl::StripPrefix(parts.second, kDevice));
  if (!absl::StartsWith(parts.second, kDevice) || !IsIdentifier(choice.device) ||
      choice.device == "cpu") {
    return absl::InvalidArgumentError(
        absl::StrCat("--external: found '", text, "', wanted ", parts.first, " or ", parts.first,
                     ":device=<name>, where the name is an identifier"));
  }
  if (!choice.codegen->linkable) {
    return absl::InvalidArgumentError(
        absl::StrCat("--external: found '", text, "': ", parts.first,
                     " makes no code that could call the hooks of a device; leave the device out"));
  }
  return choice;
}

absl::StatusOr<std::vector<ExternalChoice>> ParseExternals(const std::vector<std::string>& texts) {
  std::vector<ExternalChoice> choices;
  for (const std::string& text : texts) {
    KILN_ASSIGN_OR_RETURN(const ExternalChoice choice, ParseExternalChoice(text));
    for (const ExternalChoice& other : choices) {
      if (other.codegen != choice.codegen) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("--external: found '", choice.codegen->name, "' twice"));
    }
    choices.push_back(choice);
  }
  return choices;
}

absl::StatusOr<std::vector<ExternalModule>> GenerateExternalModules(
    const Graph& graph, const std::vector<ExternalChoice>& choices,
    const GenerateOptions& options) {
  Collector collector(choices, options.module_name);
  KILN_RETURN_IF_ERROR(collector.Collect(graph));
  std::vector<ExternalModule> modules;
  for (size_t i = 0; i < collector.codegens().size(); ++i) {
    const ExternalCodegen& codegen = *collector.codegens()[i];
    absl::StatusOr<std::vector<ExternalModule>> made =
        codegen.generate({.module_name = options.module_name,
                          .subgraphs = collector.subgraphs(i),
                          .packed = options.packed,
                          .loader_pointers = options.loader_pointers});
    if (!made.ok()) return Annotate(made.status(), absl::StrCat(codegen.name, ": "));
    KILN_RETURN_IF_ERROR(CheckGenerated(codegen, collector.subgraphs(i), *made));
    std::map<std::string, int64_t> constant_bytes;
    for (const ExternalSubgraph& subgraph : collector.subgraphs(i)) {
      constant_bytes[subgraph.symbol] = ConstantBytes(*subgraph.body);
    }
    for (ExternalModule& module : *made) {
      for (ExternalFunction& function : module.functions) {
        if (module.is_linkable()) function.constant_size_bytes = constant_bytes[function.name];
        for (const ExternalConstant& constant : function.constants) {
          function.constant_size_bytes += constant.tensor.type().num_bytes();
        }
      }
      const std::string& device = i < choices.size() ? choices[i].device : "";
      if (!device.empty()) {
        module.device = device;
        module.device_key.device_type = kExtDev;
      }
      modules.push_back(std::move(module));
    }
  }
  return modules;
}

absl::Status CheckModulesForCrt(const std::vector<ExternalModule>& modules) {
  for (const ExternalModule& module : modules) {
    if (module.crt_exportable()) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "module '", module.name(), "' (", module.type_key, ") cannot be taken by the C runtime: ",
        "it is not code that can be linked, and only the C++ runtime has loaders; use --runtime "
        "cpp, or leave ",
        module.codegen, " out of --external"));
  }
  return absl::OkStatus();
}

}  // namespace kiln
