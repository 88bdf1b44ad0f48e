// SPDX-License-Identifier: Apache-2.0
#include "compiler/lower/call_maker.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "compiler/base/module_prefix.h"
#include "compiler/base/status.h"
#include "compiler/graph/external_node.h"
#include "compiler/lower/external_cost.h"
#include "compiler/lower/kernel.h"
#include "compiler/ops/axes.h"
#include "compiler/ops/make.h"
#include "compiler/ops/op_queries.h"

namespace kiln {
namespace {

constexpr size_t kMaxFunctionName = 80;
// Maximum number of values that one function splits or joins. A node with more values becomes
// several functions, because the time of code generators grows faster than the size of a function.
constexpr size_t kMaxValues = 64;
// FNV-1a with 64 bits, which is the same on every machine.
uint64_t Hash(absl::string_view text) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (unsigned char c : text) hash = (hash ^ c) * 0x100000001b3u;
  return hash;
}

// Returns the operators of a body in order, including those in groups: "nn.conv2d nn.relu".
std::string OpNames(const Graph& body) {
  std::string names;
  for (const Node& node : body.nodes) {
    absl::StrAppend(&names, names.empty() ? "" : " ",
                    node.is_group() ? OpNames(*node.body) : std::string(node.op_name()));
  }
  return names;
}

// Returns fused_<op>_<op>…, cut at kMaxFunctionName and followed by a hash of the whole name.
std::string FusedName(const std::string& op_names) {
  const std::string full =
      absl::StrCat("fused_", absl::StrReplaceAll(op_names, {{".", "_"}, {" ", "_"}}));
  if (full.size() <= kMaxFunctionName) return full;
  return absl::StrFormat("%s_%x_", full.substr(0, kMaxFunctionName), Hash(full));
}

// Moves the constants with which a group is called, as Relay text may have it, into its body.
Graph WithoutConstantInputs(const Graph& graph, const Graph& body, std::vector<ValueId>& inputs) {
  Graph result = body;
  std::vector<ValueId> kept_inputs, kept_params;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!graph.is_constant(inputs[i])) {
      kept_inputs.push_back(inputs[i]);
      kept_params.push_back(body.inputs[i]);
      continue;
    }
    Value& param = result.value(body.inputs[i]);
    param.kind = ValueKind::kConstant;
    param.constant = graph.value(inputs[i]).constant;
  }
  inputs = std::move(kept_inputs);
  result.inputs = std::move(kept_params);
  return result;
}

// Calls f(begin, end) for pieces of kMaxValues values.
template <typename F>
absl::Status ForEachPiece(size_t size, F f) {
  for (size_t begin = 0; begin < size; begin += kMaxValues) {
    KILN_RETURN_IF_ERROR(f(begin, std::min(size, begin + kMaxValues)));
  }
  return absl::OkStatus();
}

// True for an operator that changes elements of its first input and has no other use of that input.
bool UpdatesAnInput(const Graph& graph, const Node& node) {
  return !node.is_group() && TraitsOf(node)->updates == 0 && !graph.is_constant(node.inputs[0]) &&
         std::count(node.inputs.begin(), node.inputs.end(), node.inputs[0]) == 1 &&
         graph.type(node.outputs[0]).num_elements() > 0;
}

}  // namespace

FunctionNames::FunctionNames(absl::string_view module)
    : prefix_(absl::StrCat(ModulePrefix(module), "_")) {}

std::string FunctionNames::Unique(const std::string& base) {
  std::string name = base;
  for (int& i = last_number_[base]; !taken_.insert(name).second;) {
    name = absl::StrCat(base, "_", ++i);
  }
  return prefix_ + name;
}

CallMaker::CallMaker(const Graph& graph, Slices slices, absl::string_view module_name)
    : graph_(graph), slices_(std::move(slices)), names_(module_name) {}

absl::Status CallMaker::ForEach(const Function& f) {
  const auto make = [&](PendingCall pending) {
    if (pending.body.has_value()) {
      pending.call.function = names_.Unique(FusedName(pending.call.op_names));
    }
    return f(std::move(pending));
  };
  for (NodeId id = 0; id < static_cast<NodeId>(graph_.nodes.size()); ++id) {
    const Node& node = graph_.node(id);
    PendingCall pending;
    pending.node = id;
    pending.call.source = node.source.node;
    const std::optional<std::vector<PartCopy>> copies = CopiesOf(id);
    if (IsView(graph_, node)) {
      // The view of a part is the same memory and has the same whole.
      if (slices_.IsPart(node.outputs[0])) continue;
      pending.call.op_names = std::string(node.op_name());
      pending.inputs = ParamsOf({node.inputs[0]});
      pending.outputs = ParamsOf(node.outputs);
    } else if (!ExternalCompiler(node).empty()) {
      pending.inputs = ParamsOf(node.inputs);
      pending.outputs = ParamsOf(node.outputs);
      pending.call.op_names = OpNames(*node.body);
      pending.call.function = std::string(ExternalSymbol(node));
      pending.call.schedule = std::string(ExternalCompiler(node));
      pending.call.cost = CostOfExternal(*node.body);
    } else if (copies.has_value()) {
      pending.call.op_names = std::string(node.op_name());
      KILN_RETURN_IF_ERROR(ForEachPiece(copies->size(), [&](size_t begin, size_t end) {
        PendingCall piece = pending;
        KILN_RETURN_IF_ERROR(AddCopies(absl::MakeSpan(*copies).subspan(begin, end - begin), piece));
        return make(std::move(piece));
      }));
      continue;
    } else if (PartsOf(node) == Parts::kSplit && node.outputs.size() > kMaxValues) {
      pending.call.op_names = std::string(node.op_name());
      KILN_RETURN_IF_ERROR(ForEachPiece(node.outputs.size(), [&](size_t begin, size_t end) {
        PendingCall piece = pending;
        KILN_RETURN_IF_ERROR(AddSections(node, begin, end, piece));
        return make(std::move(piece));
      }));
      continue;
    } else if (UpdatesAnInput(graph_, node)) {
      PendingCall copy = pending;
      KILN_RETURN_IF_ERROR(AddUpdate(node, copy, pending));
      KILN_RETURN_IF_ERROR(make(std::move(copy)));
    } else {
      AddOperators(node, pending);
      pending.call.op_names = OpNames(*pending.body);
    }
    KILN_RETURN_IF_ERROR(make(std::move(pending)));
  }
  return absl::OkStatus();
}

std::vector<Param> CallMaker::ParamsOf(const std::vector<ValueId>& values) const {
  std::vector<Param> params;
  for (ValueId value : values) {
    // A constant has no memory. If it is an argument of a call, a later step reports the error.
    params.push_back(
        {value, graph_.is_constant(value) ? Slice{.whole = value} : slices_.Of(value)});
  }
  return params;
}

void CallMaker::AddOperators(const Node& node, PendingCall& pending) const {
  const Graph body = node.is_group() ? *node.body : BodyOfNode(graph_, node);
  std::vector<ValueId> inputs;
  for (ValueId input : node.inputs) {
    const bool seen = std::find(inputs.begin(), inputs.end(), input) != inputs.end();
    if (node.is_group() || (!graph_.is_constant(input) && !seen)) inputs.push_back(input);
  }
  pending.body = WithoutConstantInputs(graph_, body, inputs);
  pending.inputs = ParamsOf(inputs);
  pending.outputs = ParamsOf(node.outputs);
}

std::optional<std::vector<PartCopy>> CallMaker::CopiesOf(NodeId id) const {
  if (const std::vector<PartCopy>* copies = slices_.copies(id); copies != nullptr) return *copies;
  const Node& node = graph_.node(id);
  const bool stacks = PartsOf(node) == Parts::kStacked;
  if ((!stacks && PartsOf(node) != Parts::kConcatenated) || node.inputs.size() <= kMaxValues ||
      graph_.type(node.outputs[0]).num_elements() == 0) {
    return std::nullopt;
  }
  const Slice into = slices_.Of(node.outputs[0]);
  const size_t axis = AxisOf(node.attrs.Int("axis"), graph_.type(node.outputs[0]).shape.size());
  std::vector<PartCopy> copies;
  int64_t first = into.first;
  for (ValueId input : node.inputs) {
    const TensorType& type = graph_.type(input);
    Slice to = {into.whole, first, into.strides};
    if (stacks) to.strides.erase(to.strides.begin() + static_cast<std::ptrdiff_t>(axis));
    if (type.num_elements() > 0) copies.push_back({input, std::move(to)});
    first += (stacks ? 1 : type.shape[axis]) * into.strides[axis];
  }
  return copies;
}

absl::Status CallMaker::AddSections(const Node& node, size_t begin, size_t end,
                                    PendingCall& pending) const {
  Graph& body = pending.body.emplace();
  const TensorType& type = graph_.type(node.inputs[0]);
  const size_t axis = AxisOf(node.attrs.Int("axis"), type.shape.size());
  const ValueId data = graph_.is_constant(node.inputs[0])
                           ? body.AddConstant(graph_.value(node.inputs[0]).constant)
                           : body.AddInput("p0", type);
  int64_t from = 0;
  std::vector<ValueId> outputs;
  for (size_t k = 0; k < end; ++k) {
    const int64_t to = from + graph_.type(node.outputs[k]).shape[axis];
    if (k >= begin) {
      KILN_ASSIGN_OR_RETURN(const ValueId section,
                            MakeSlice(body, data, static_cast<int64_t>(axis), from, to));
      body.outputs.push_back(section);
      outputs.push_back(node.outputs[k]);
    }
    from = to;
  }
  if (!body.inputs.empty()) pending.inputs = ParamsOf({node.inputs[0]});
  pending.outputs = ParamsOf(outputs);
  return absl::OkStatus();
}

absl::Status CallMaker::AddCopies(absl::Span<const PartCopy> copies, PendingCall& pending) const {
  Graph& body = pending.body.emplace();
  std::map<ValueId, ValueId> inside;
  std::vector<ValueId> inputs;
  for (const PartCopy& copy : copies) {
    const auto [it, is_new] = inside.try_emplace(copy.part, kNoId);
    if (is_new && graph_.is_constant(copy.part)) {
      it->second = body.AddConstant(graph_.value(copy.part).constant);
    } else if (is_new) {
      it->second = body.AddInput(absl::StrCat("p", inputs.size()), graph_.type(copy.part));
      inputs.push_back(copy.part);
    }
    KILN_ASSIGN_OR_RETURN(const ValueId output, MakeCopy(body, it->second));
    body.outputs.push_back(output);
    pending.outputs.push_back({kNoId, copy.to});
  }
  pending.inputs = ParamsOf(inputs);
  return absl::OkStatus();
}

absl::Status CallMaker::AddUpdate(const Node& node, PendingCall& copy, PendingCall& update) const {
  Graph& body = copy.body.emplace();
  const ValueId data = body.AddInput("p0", graph_.type(node.inputs[0]));
  KILN_ASSIGN_OR_RETURN(const ValueId copied, MakeCopy(body, data));
  body.outputs = {copied};
  copy.inputs = ParamsOf({node.inputs[0]});
  copy.outputs = ParamsOf(node.outputs);
  copy.call.op_names = OpNames(body);
  // Parts of one whole would get the same address although they differ.
  copy.is_copy = !copy.inputs[0].is_part() && !copy.outputs[0].is_part();
  AddOperators(node, update);
  update.inputs.erase(update.inputs.begin());
  // The copy makes the value, and this call writes to it again.
  update.outputs = {{kNoId, slices_.Of(node.outputs[0])}};
  update.updates_output = true;
  update.call.op_names = OpNames(*update.body);
  return absl::OkStatus();
}

}  // namespace kiln
