// SPDX-License-Identifier: Apache-2.0
#include "compiler/lower/lower.h"

#include <algorithm>
#include <map>
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
#include "compiler/schedule/schedule.h"

namespace kiln {
namespace {

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

// Constants are named after their function, so that names are unique in the program.
void RenameConstants(Scheduled& scheduled) {
  std::unordered_map<const loop::BufferNode*, loop::Buffer> buffers;
  for (size_t i = 0; i < scheduled.constants.size(); ++i) {
    loop::Constant& constant = scheduled.constants[i];
    const loop::Buffer old = constant.buffer;
    constant.buffer = loop::MakeBuffer(absl::StrCat(scheduled.func.name, "_", old->name, "_", i),
                                       old->dtype, old->shape, old->scope, old->alignment_bytes);
    buffers[old.get()] = constant.buffer;
  }
  if (!buffers.empty()) scheduled.func.body = loop::ReplaceBuffers(scheduled.func.body, buffers);
}

bool IsView(const Graph& graph, const Node& node) {
  return node.op_name() == "reshape" && !graph.is_constant(node.inputs[0]);
}

// Calls f(body, call) for every node, with the call's names, inputs and outputs filled in; for one
// that has no code here with a null body.
template <typename F>
absl::Status ForEachCall(const Graph& graph, absl::string_view module, F f) {
  FunctionNames names(module);
  for (const Node& node : graph.nodes) {
    LoweredCall call;
    call.outputs = node.outputs;
    call.source = node.source.node;
    if (!node.is_group() && IsView(graph, node)) {
      call.inputs = {node.inputs[0]};
      call.op_names = std::string(node.op_name());
      KILN_RETURN_IF_ERROR(f(nullptr, std::move(call)));
      continue;
    }
    if (!ExternalCompiler(node).empty()) {
      call.inputs = node.inputs;
      call.op_names = OpNames(*node.body);
      call.function = std::string(ExternalSymbol(node));
      call.schedule = std::string(ExternalCompiler(node));
      call.cost = CostOfExternal(*node.body);
      KILN_RETURN_IF_ERROR(f(nullptr, std::move(call)));
      continue;
    }
    const Graph body = node.is_group() ? *node.body : BodyOfNode(graph, node);
    for (ValueId input : node.inputs) {
      const bool seen =
          std::find(call.inputs.begin(), call.inputs.end(), input) != call.inputs.end();
      if (node.is_group() || (!graph.is_constant(input) && !seen)) call.inputs.push_back(input);
    }
    call.op_names = OpNames(body);
    call.function = names.Unique(FusedName(call.op_names));
    KILN_RETURN_IF_ERROR(f(&body, std::move(call)));
  }
  return absl::OkStatus();
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

}  // namespace

absl::StatusOr<Lowered> Lower(const Graph& graph, const Target& target,
                              const LowerOptions& options) {
  Lowered lowered;
  KILN_RETURN_IF_ERROR(ForEachCall(
      graph, options.module_name, [&](const Graph* body, LoweredCall call) -> absl::Status {
        if (body != nullptr) {
          const Graph closed = WithoutConstantInputs(graph, *body, call.inputs);
          KILN_ASSIGN_OR_RETURN(const loop::Kernel kernel, MakeKernel(call.function, closed));
          KILN_ASSIGN_OR_RETURN(Scheduled scheduled,
                                ScheduleKernel(kernel, target, options.schedule));
          RenameConstants(scheduled);
          call.workspace_bytes =
              scheduled.func.workspace == nullptr ? 0 : scheduled.func.workspace->num_bytes();
          call.in_place = scheduled.in_place;
          call.schedule = scheduled.description;
          call.contraction = std::move(scheduled.contraction);
          call.cost = loop::CostOf(kernel);
          for (loop::Constant& constant : scheduled.constants) {
            lowered.program.constants.push_back(std::move(constant));
          }
          lowered.program.funcs.push_back(std::move(scheduled.func));
        } else if (!call.function.empty()) {
          KILN_ASSIGN_OR_RETURN(loop::Func declaration, Declaration(graph, call));
          lowered.program.funcs.push_back(std::move(declaration));
        }
        lowered.calls.push_back(std::move(call));
        return absl::OkStatus();
      }));
  return lowered;
}

absl::StatusOr<std::string> PrintStages(const Graph& graph, const LowerOptions& options) {
  std::string text;
  KILN_RETURN_IF_ERROR(ForEachCall(
      graph, options.module_name, [&](const Graph* body, LoweredCall call) -> absl::Status {
        if (body == nullptr) return absl::OkStatus();
        const Graph closed = WithoutConstantInputs(graph, *body, call.inputs);
        KILN_ASSIGN_OR_RETURN(const loop::Kernel kernel, MakeKernel(call.function, closed));
        absl::StrAppend(&text, loop::ToString(kernel), "\n");
        return absl::OkStatus();
      }));
  return text;
}

}  // namespace kiln
