// SPDX-License-Identifier: Apache-2.0
#include "compiler/lower/lower.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "compiler/base/status.h"
#include "compiler/graph/external_node.h"
#include "compiler/loop/mutate.h"
#include "compiler/loop/passes.h"
#include "compiler/lower/external_cost.h"
#include "compiler/lower/kernel.h"
#include "compiler/lower/slices.h"
#include "compiler/ops/add_op.h"
#include "compiler/schedule/schedule.h"

namespace kiln {
namespace {

using loop::Expr;

constexpr size_t kMaxFunctionName = 80;

// FNV-1a, 64 bits: the same on every machine.
uint64_t Hash(absl::string_view text) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (unsigned char c : text) hash = (hash ^ c) * 0x100000001b3u;
  return hash;
}

// A body's operators in order, those of groups in it too: "nn.conv2d nn.relu".
std::string OpNames(const Graph& body) {
  std::string names;
  for (const Node& node : body.nodes) {
    absl::StrAppend(&names, names.empty() ? "" : " ",
                    node.is_group() ? OpNames(*node.body) : std::string(node.op_name()));
  }
  return names;
}

// fused_<op>_<op>…, cut at kMaxFunctionName with a hash of the whole.
std::string FusedName(const std::string& op_names) {
  const std::string full =
      absl::StrCat("fused_", absl::StrReplaceAll(op_names, {{".", "_"}, {" ", "_"}}));
  if (full.size() <= kMaxFunctionName) return full;
  return absl::StrFormat("%s_%x_", full.substr(0, kMaxFunctionName), Hash(full));
}

class FunctionNames {
 public:
  explicit FunctionNames(absl::string_view module)
      : prefix_(absl::StrCat("tvmgen_", module, "_")) {}

  std::string Unique(const std::string& base) {
    std::string name = base;
    for (int i = 1; !taken_.insert(name).second; ++i) name = absl::StrCat(base, "_", i);
    return prefix_ + name;
  }

 private:
  std::string prefix_;
  std::set<std::string> taken_;
};

// Constants are named after their function, so that names are unique in the program, and aligned
// as the target wants them.
void FinishConstants(Scheduled& scheduled, const Target& target) {
  std::unordered_map<const loop::BufferNode*, loop::Buffer> buffers;
  for (size_t i = 0; i < scheduled.constants.size(); ++i) {
    loop::Constant& constant = scheduled.constants[i];
    const loop::Buffer old = constant.buffer;
    constant.buffer =
        loop::MakeBuffer(absl::StrCat(scheduled.func.name, "_", old->name, "_", i), old->dtype,
                         old->shape, old->scope, target.buffer_alignment());
    buffers[old.get()] = constant.buffer;
  }
  if (!buffers.empty()) scheduled.func.body = loop::ReplaceBuffers(scheduled.func.body, buffers);
}

// An argument of a call and where it lies. kNoId: a part that the call writes beside others.
struct Param {
  ValueId value;
  Slice at;

  bool is_part() const { return value != at.whole; }
};

// A node on its way to be a call.
struct PendingCall {
  std::optional<Graph> body;  // none: there is no code here
  std::vector<Param> inputs;  // with a body, those of the body that are no constants
  std::vector<Param> outputs;
  LoweredCall call = {};  // without inputs and outputs
};

// A group that is called with constants, as Relay text may have it, takes them inside.
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

// Goes through the nodes that become calls.
class CallMaker {
 public:
  CallMaker(const Graph& graph, Slices slices, const LowerOptions& options)
      : graph_(graph), slices_(std::move(slices)), names_(options.module_name) {}

  template <typename F>
  absl::Status ForEach(F f) {
    for (NodeId id = 0; id < static_cast<NodeId>(graph_.nodes.size()); ++id) {
      const Node& node = graph_.node(id);
      PendingCall pending;
      pending.call.source = node.source.node;
      const std::vector<PartCopy>* copies = slices_.copies(id);
      if (!node.is_group() && IsView(graph_, node)) {
        // The view of a part is the same memory under the same name.
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
      } else if (copies != nullptr) {
        if (copies->empty()) continue;
        pending.call.op_names = std::string(node.op_name());
        KILN_RETURN_IF_ERROR(AddCopies(*copies, pending));
      } else {
        AddOperators(node, pending);
        pending.call.op_names = OpNames(*pending.body);
      }
      if (pending.body.has_value()) {
        pending.call.function = names_.Unique(FusedName(pending.call.op_names));
      }
      KILN_RETURN_IF_ERROR(f(std::move(pending)));
    }
    return absl::OkStatus();
  }

 private:
  std::vector<Param> ParamsOf(const std::vector<ValueId>& values) const {
    std::vector<Param> params;
    for (ValueId value : values) {
      // A constant has no memory; as an argument it is an error that is found later.
      params.push_back(
          {value, graph_.is_constant(value) ? Slice{.whole = value} : slices_.Of(value)});
    }
    return params;
  }

  void AddOperators(const Node& node, PendingCall& pending) const {
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

  // What is left of a concatenation.
  absl::Status AddCopies(const std::vector<PartCopy>& copies, PendingCall& pending) const {
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
      KILN_ASSIGN_OR_RETURN(const ValueId output, AddOp(body, "copy", {it->second}));
      body.outputs.push_back(output);
      pending.outputs.push_back({kNoId, copy.to});
    }
    pending.inputs = ParamsOf(inputs);
    return absl::OkStatus();
  }

  const Graph& graph_;
  const Slices slices_;
  FunctionNames names_;
};

// Puts slices in the place of those parameters that are parts of others, or share memory with one
// that is. Returns the values that the function takes, each whole once.
std::vector<ValueId> SliceParams(const Graph& graph, const std::vector<Param>& params,
                                 std::vector<loop::Buffer>& buffers,
                                 std::map<loop::Buffer, loop::Buffer>& slices) {
  std::map<ValueId, loop::Buffer> wholes;
  for (const Param& param : params) {
    if (param.is_part()) wholes[param.at.whole] = nullptr;
  }
  std::vector<ValueId> values;
  for (size_t i = 0; i < params.size(); ++i) {
    const Slice& at = params[i].at;
    const auto it = wholes.find(at.whole);
    if (it == wholes.end()) {
      values.push_back(at.whole);
      continue;
    }
    loop::Buffer& buffer = buffers[i];
    if (it->second == nullptr) {
      values.push_back(at.whole);
      it->second = loop::MakeBuffer(buffer->name, buffer->dtype, graph.type(at.whole).shape,
                                    loop::BufferScope::kParam);
    }
    const loop::Buffer slice =
        loop::MakeSlice(buffer->name, buffer->shape, it->second, at.first, at.strides);
    slices[buffer] = slice;
    buffer = slice;
  }
  return values;
}

// The stages of a call, with its inputs and outputs where they lie.
absl::StatusOr<loop::Kernel> KernelOf(const Graph& graph, PendingCall& pending) {
  LoweredCall& call = pending.call;
  KILN_ASSIGN_OR_RETURN(loop::Kernel kernel, MakeKernel(call.function, *pending.body));
  std::map<loop::Buffer, loop::Buffer> slices;
  call.cost = loop::CostOf(kernel);
  call.inputs = SliceParams(graph, pending.inputs, kernel.inputs, slices);
  call.outputs = SliceParams(graph, pending.outputs, kernel.outputs, slices);
  if (slices.empty()) return kernel;
  for (loop::Stage& stage : kernel.stages) {
    if (const auto it = slices.find(stage.buffer); it != slices.end()) stage.buffer = it->second;
    const auto read_slices = [&](const Expr& e) -> Expr {
      const auto* load = e.As<loop::Load>();
      if (load == nullptr) return {};
      const auto it = slices.find(load->buffer);
      return it == slices.end() ? Expr() : loop::MakeLoad(it->second, load->index);
    };
    stage.value = loop::MutateExpr(stage.value, read_slices);
    for (Expr& index : stage.index) index = loop::MutateExpr(index, read_slices);
  }
  return kernel;
}

std::vector<ValueId> WholesOf(const std::vector<Param>& params) {
  std::vector<ValueId> values;
  for (const Param& param : params) values.push_back(param.at.whole);
  return values;
}

// Whether the function reads one part of a value and writes another.
bool ReadsWhatItWrites(const LoweredCall& call) {
  return std::any_of(call.outputs.begin(), call.outputs.end(), [&](ValueId output) {
    return std::find(call.inputs.begin(), call.inputs.end(), output) != call.inputs.end();
  });
}

// The function of an external subgraph, which the linker or the runtime finds.
absl::StatusOr<loop::Func> Declaration(const Graph& graph, const LoweredCall& call) {
  loop::Func func;
  func.name = call.function;
  func.kind = loop::Func::Kind::kExternal;
  func.num_inputs = static_cast<int>(call.inputs.size());
  for (const auto* values : {&call.inputs, &call.outputs}) {
    for (ValueId value : *values) {
      if (graph.is_constant(value)) {
        return absl::UnimplementedError(
            absl::StrCat(call.function, ": a constant is an argument of this external subgraph, ",
                         "wanted inside of its body; the pass partition puts it there"));
      }
      const TensorType& type = graph.type(value);
      func.params.push_back(loop::MakeBuffer(absl::StrCat("p", func.params.size()), type.dtype,
                                             type.shape, loop::BufferScope::kParam));
    }
  }
  return func;
}

// What firmware needs decides what becomes a slice, and is known of functions that are made: those
// of every node by itself.
absl::StatusOr<Slices> SlicesOf(const Graph& graph, const Target& target,
                                const LowerOptions& options) {
  const bool concatenates = std::any_of(graph.nodes.begin(), graph.nodes.end(),
                                        [](const Node& n) { return n.op_name() == "concatenate"; });
  if (!options.place_concatenations || !concatenates) return Slices(graph);
  std::vector<int64_t> scratch_bytes;
  if (target.is_baremetal()) {
    LowerOptions copying = options;
    copying.place_concatenations = false;
    KILN_ASSIGN_OR_RETURN(const Lowered lowered, Lower(graph, target, copying));
    for (const LoweredCall& call : lowered.calls) scratch_bytes.push_back(call.workspace_bytes);
  }
  return FindSlices(graph, target, std::move(scratch_bytes));
}

}  // namespace

absl::StatusOr<Lowered> Lower(const Graph& graph, const Target& target,
                              const LowerOptions& options) {
  Lowered lowered;
  KILN_ASSIGN_OR_RETURN(Slices slices, SlicesOf(graph, target, options));
  CallMaker calls(graph, std::move(slices), options);
  KILN_RETURN_IF_ERROR(calls.ForEach([&](PendingCall pending) -> absl::Status {
    LoweredCall& call = pending.call;
    if (pending.body.has_value()) {
      KILN_ASSIGN_OR_RETURN(const loop::Kernel kernel, KernelOf(graph, pending));
      KILN_ASSIGN_OR_RETURN(Scheduled scheduled, ScheduleKernel(kernel, target, options.schedule));
      FinishConstants(scheduled, target);
      call.workspace_bytes =
          scheduled.func.workspace == nullptr ? 0 : scheduled.func.workspace->num_bytes();
      call.in_place = scheduled.in_place;
      call.schedule = scheduled.description;
      call.contraction = std::move(scheduled.contraction);
      if (ReadsWhatItWrites(call)) scheduled.func.in_place = true;
      for (loop::Constant& constant : scheduled.constants) {
        lowered.program.constants.push_back(std::move(constant));
      }
      lowered.program.funcs.push_back(std::move(scheduled.func));
    } else {
      call.inputs = WholesOf(pending.inputs);
      call.outputs = WholesOf(pending.outputs);
      if (!call.function.empty()) {
        KILN_ASSIGN_OR_RETURN(loop::Func declaration, Declaration(graph, call));
        lowered.program.funcs.push_back(std::move(declaration));
      }
    }
    lowered.calls.push_back(std::move(call));
    return absl::OkStatus();
  }));
  return lowered;
}

absl::StatusOr<std::string> PrintStages(const Graph& graph, const Target& target,
                                        const LowerOptions& options) {
  std::string text;
  KILN_ASSIGN_OR_RETURN(Slices slices, SlicesOf(graph, target, options));
  CallMaker calls(graph, std::move(slices), options);
  KILN_RETURN_IF_ERROR(calls.ForEach([&](PendingCall pending) -> absl::Status {
    if (!pending.body.has_value()) return absl::OkStatus();
    KILN_ASSIGN_OR_RETURN(const loop::Kernel kernel, KernelOf(graph, pending));
    absl::StrAppend(&text, loop::ToString(kernel), "\n");
    return absl::OkStatus();
  }));
  return text;
}

}  // namespace kiln
