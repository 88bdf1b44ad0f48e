// SPDX-License-Identifier: Apache-2.0
#include "tools/pages/model_page.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "compiler/base/module_prefix.h"
#include "metadata/form.h"
#include "tools/kiln/runtime_files.h"
#include "tools/pages/html.h"

namespace kiln::tools {
namespace {

using Json = nlohmann::ordered_json;

// Returns the data layout of a node, or of a node fused in it; empty if no operator has one.
std::string LayoutOf(const Node& node) {
  if (node.is_group()) {
    for (const Node& inner : node.body->nodes) {
      if (const std::string layout = LayoutOf(inner); !layout.empty()) return layout;
    }
    return "";
  }
  for (const char* name : {"data_layout", "layout"}) {
    if (!node.op->FindAttr(name)) continue;
    if (const auto* layout = std::get_if<std::string>(&node.attrs.Get(name).value)) return *layout;
  }
  return "";
}

// Returns the model's name of a value of the fused graph. Passes do not keep all names.
std::string ValueName(const Graph& graph, ValueId id) {
  const Value& value = graph.value(id);
  if (!value.name.empty() || value.kind != ValueKind::kNodeOutput) return value.name;
  const Node& node = graph.node(value.node);
  if (!node.is_group()) return node.source.node;
  return ValueName(*node.body, node.body->outputs[static_cast<size_t>(value.output_index)]);
}

// Returns the names of the tensors in the buffers, in the order of the buffers.
std::vector<std::string> BufferNames(const Compilation& compilation) {
  std::vector<std::string> names;
  for (const PlanBuffer& buffer : compilation.plan.buffers) names.push_back(buffer.name);
  for (const PlanCall& call : compilation.plan.calls) {
    for (size_t i = 0; i < call.outputs.size(); ++i) {
      const auto id = static_cast<size_t>(call.args[call.inputs.size() + i]);
      const PlanBuffer& buffer = compilation.plan.buffers[id];
      const std::string name = ValueName(compilation.fused, call.outputs[i]);
      if (buffer.kind == PlanBufferKind::kIntermediate && !name.empty()) names[id] = name;
    }
    if (call.scratch >= 0) {
      names[static_cast<size_t>(call.scratch)] =
          absl::StrCat("scratch of ", call.source.empty() ? call.op_names : call.source);
    }
  }
  return names;
}

Json TensorsJson(const Compilation& compilation) {
  const std::vector<std::string> names = BufferNames(compilation);
  Json tensors = Json::array();
  for (size_t i = 0; i < compilation.plan.buffers.size(); ++i) {
    const PlanBuffer& buffer = compilation.plan.buffers[i];
    Json tensor = {{"name", names[i]},
                   {"kind", KindName(buffer.kind)},
                   {"dtype", buffer.type.dtype.ToString()},
                   {"shape", buffer.type.shape},
                   {"bytes", buffer.bytes()}};
    if (buffer.alias_of >= 0) tensor["in"] = buffer.alias_of;
    if (buffer.pool >= 0) {
      tensor["pool"] = buffer.pool;
      tensor["offset"] = buffer.offset_bytes;
      tensor["first"] = buffer.first_call;
      tensor["last"] = buffer.last_call;
    }
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

// The metadata counts calls of functions. Views are not calls.
std::string FunctionOfCall(const proto::Metadata& metadata, int call) {
  return call + 1 < metadata.functions_size() ? metadata.functions(call + 1).name() : "";
}

// Returns, keyed by function, the bytes of constants that no earlier function reads, so that a sum
// counts none twice. External code generators have their own constants, which are not in the pools.
std::map<std::string, int64_t> ConstantBytes(const proto::Metadata& metadata) {
  std::map<std::string, int64_t> bytes;
  for (const proto::Function& function : metadata.functions()) {
    bytes[function.name()] =
        function.module_type() == "library" ? 0 : function.constant_size_bytes();
  }
  for (const proto::Pool& pool : metadata.pools()) {
    if (pool.kind() != proto::Pool::CONSTANT) continue;
    for (const proto::PoolBuffer& buffer : pool.buffers()) {
      bytes[FunctionOfCall(metadata, buffer.first_call())] += buffer.size_bytes();
    }
  }
  return bytes;
}

Json CallJson(const ModelPageInput& input, const PlanCall& call,
              const std::map<std::string, int64_t>& constant_bytes) {
  const size_t outputs = call.args.size() - call.inputs.size();
  const auto begin = call.args.begin(), middle = call.args.end() - static_cast<long>(outputs);
  Json json = {{"layers", call.source},
               {"operators", call.op_names},
               {"function", call.function},
               {"schedule", call.schedule},
               {"inputs", std::vector<int>(begin, middle)},
               {"outputs", std::vector<int>(middle, call.args.end())}};
  const Value& made = input.compilation->fused.value(call.outputs[0]);
  const std::string layout =
      made.node == kNoId ? "" : LayoutOf(input.compilation->fused.node(made.node));
  if (!layout.empty()) json["layout"] = layout;
  if (call.cost.has_value()) {
    json["operations"] = call.cost->operations;
    json["accessed_bytes"] = call.cost->accessed_bytes;
  }
  json["scratch_bytes"] = call.workspace_bytes;
  const auto constants = constant_bytes.find(call.function);
  if (constants != constant_bytes.end()) json["constant_bytes"] = constants->second;
  const auto code = input.code_bytes.find(call.function);
  if (code != input.code_bytes.end()) json["code_bytes"] = code->second;
  const auto seconds = input.seconds.find(call.function);
  if (seconds != input.seconds.end()) json["seconds"] = seconds->second;
  return json;
}

// Functions that several calls share are counted at the first call.
Json CallsJson(const ModelPageInput& input) {
  std::map<std::string, int64_t> constant_bytes = ConstantBytes(input.compilation->metadata);
  std::map<std::string, int> calls;
  for (const PlanCall& call : input.compilation->plan.calls) ++calls[call.function];
  Json json = Json::array();
  for (const PlanCall& call : input.compilation->plan.calls) {
    Json& row = json.emplace_back(CallJson(input, call, constant_bytes));
    if (row.contains("seconds")) {
      row["seconds"] = row["seconds"].get<double>() / calls[call.function];
    }
  }
  return json;
}

Json PoolsJson(const Compilation& compilation) {
  Json pools = Json::array();
  for (const PlanPool& pool : compilation.plan.pools) {
    pools.push_back({{"name", pool.name},
                     {"bytes", pool.size_bytes},
                     {"lower_bound", pool.lower_bound_bytes},
                     {"alignment", pool.alignment_bytes},
                     {"external", pool.external},
                     {"limit", pool.limit_bytes}});
  }
  return pools;
}

Json ConstantsJson(const Compilation& compilation) {
  const std::string prefix = ModulePrefix(compilation.metadata.module_name()) + "_";
  Json constants = Json::array();
  for (const proto::Pool& pool : compilation.metadata.pools()) {
    if (pool.kind() != proto::Pool::CONSTANT) continue;
    for (const proto::PoolBuffer& buffer : pool.buffers()) {
      constants.push_back({{"name", std::string(absl::StripPrefix(buffer.name(), prefix))},
                           {"bytes", buffer.size_bytes()},
                           {"function", FunctionOfCall(compilation.metadata, buffer.first_call())},
                           {"pool", pool.name()}});
    }
  }
  return constants;
}

Json QuantizationJson(const TensorScales& scales) {
  Json json = Json::array();
  for (const auto& [name, scale] : scales) {
    json.push_back({{"name", name}, {"scale", scale.scale}, {"zero_point", scale.zero_point}});
  }
  return json;
}

std::string Summary(const ModelPageInput& input) {
  const proto::Metadata& metadata = input.compilation->metadata;
  const proto::Function& main = metadata.functions(0);
  const Plan& plan = input.compilation->plan;
  const bool overlaps = plan.workspace_bytes() < plan.lower_bound_bytes;
  return absl::StrCat(
      SummaryItem("target", metadata.target()), SummaryItem("called from", CallersOf(metadata)),
      SummaryItem("form", FormOf(metadata)),
      SummaryItem(
          "memory between operators",
          absl::StrCat(GroupedNumber(plan.workspace_bytes()), " bytes, ",
                       overlaps ? "" : "lower bound ", GroupedNumber(plan.lower_bound_bytes),
                       " bytes", overlaps ? " without overlap of inputs and outputs" : "")),
      SummaryItem("constants", absl::StrCat(GroupedNumber(main.constant_size_bytes()), " bytes")),
      main.has_cost() ? SummaryItem("operations", GroupedNumber(main.cost().operations())) : "",
      SummaryItem("made by", absl::StrCat("Kiln ", input.version)));
}

}  // namespace

Json ModelJson(const ModelPageInput& input) {
  return {{"module", input.compilation->metadata.module_name()},
          {"calls", CallsJson(input)},
          {"tensors", TensorsJson(*input.compilation)},
          {"pools", PoolsJson(*input.compilation)},
          {"constants", ConstantsJson(*input.compilation)},
          {"quantization", QuantizationJson(input.scales)}};
}

std::string ModelPage(const ModelPageInput& input) {
  const Artifacts& files = PageFiles();
  return FillPage(files.at("model.html"),
                  {{"module", EscapeHtml(input.compilation->metadata.module_name())},
                   {"summary", Summary(input)},
                   {"data", ScriptJson(ModelJson(input))},
                   {"graph_script", files.at("graph.js")},
                   {"memory_script", files.at("memory.js")},
                   {"model_script", files.at("model.js")}});
}

absl::StatusOr<std::map<std::string, double>> ProfiledSeconds(const std::string& json,
                                                              const Compilation& compilation) {
  const Json parsed = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  const auto wrong = [](absl::string_view found) {
    return absl::InvalidArgumentError(absl::StrCat(
        "found ", found, ", wanted what kiln bench --profile --json prints for this model"));
  };
  const Json::json_pointer at("/profile/operators");
  if (parsed.is_discarded()) return wrong("no JSON");
  if (!parsed.contains(at) || !parsed[at].is_array()) return wrong("no profile");
  const std::string prefix = ModulePrefix(parsed.value("module", "")) + "_",
                    own_prefix = ModulePrefix(compilation.metadata.module_name()) + "_";
  std::set<std::string> functions;
  for (const PlanCall& call : compilation.plan.calls) functions.insert(call.function);
  std::map<std::string, double> seconds;
  for (const Json& row : parsed[at]) {
    if (!row.is_object() || !row.contains("seconds") || !row["seconds"].is_number()) continue;
    const std::string name = row.value("function_name", "");
    const std::string own = absl::StrCat(own_prefix, absl::StripPrefix(name, prefix));
    if (functions.contains(own)) seconds[own] = row["seconds"].get<double>();
  }
  if (seconds.empty()) return wrong("a profile of another model");
  return seconds;
}

}  // namespace kiln::tools
