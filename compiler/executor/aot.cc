// SPDX-License-Identifier: Apache-2.0
#include "compiler/executor/aot.h"

#include "absl/strings/str_cat.h"

namespace kiln {
namespace {

// A C identifier for a tensor of the model; unique among parameters by its position if need be.
std::string ParameterName(const std::string& name, const std::string& otherwise) {
  std::string id;
  for (char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    id.push_back(plain ? c : '_');
  }
  return id.empty() || (id[0] >= '0' && id[0] <= '9') ? absl::StrCat(otherwise, "_", id) : id;
}

}  // namespace

absl::StatusOr<loop::Func> RunModel(const Plan& plan, const loop::LoopProgram& program,
                                    std::string name, loop::Convention convention,
                                    const std::map<std::string, int32_t>& profile_indices) {
  loop::Func func;
  func.name = std::move(name);
  func.kind = loop::Func::Kind::kMain;
  func.convention = convention;
  func.num_inputs = static_cast<int>(plan.inputs.size());
  std::map<int, loop::Buffer> params;
  for (const auto* ids : {&plan.inputs, &plan.outputs}) {
    for (int id : *ids) {
      const PlanBuffer& buffer = plan.buffers[static_cast<size_t>(id)];
      params[id] =
          loop::MakeBuffer(ParameterName(buffer.name, ids == &plan.inputs ? "input" : "output"),
                           buffer.type.dtype, buffer.type.shape, loop::BufferScope::kParam);
      func.params.push_back(params[id]);
    }
  }
  if (plan.workspace_bytes() > 0) {
    func.workspace =
        loop::MakeBuffer("workspace", DType::UInt(8), {plan.workspace_bytes()},
                         loop::BufferScope::kParam, static_cast<int>(kWorkspaceAlignment));
  }
  const auto address = [&](int id) -> loop::Argument {
    const int root = plan.Root(id);
    const auto param = params.find(root);
    if (param != params.end()) return {param->second, loop::Expr(0)};
    // Any address does for a tensor without elements, and there may be no workspace.
    if (plan.buffers[static_cast<size_t>(root)].bytes() == 0) {
      return {func.params.back(), loop::Expr(0)};
    }
    return {func.workspace, loop::Expr(plan.buffers[static_cast<size_t>(root)].offset_bytes)};
  };
  std::vector<loop::Stmt> calls;
  for (const PlanCall& call : plan.calls) {
    if (call.function.empty()) continue;
    if (program.FindFunc(call.function) == nullptr) {
      return absl::InternalError(
          absl::StrCat("the plan calls ", call.function, ", which is not there"));
    }
    std::vector<loop::Argument> args;
    for (int id : call.args) args.push_back(address(id));
    if (call.scratch >= 0) args.push_back(address(call.scratch));
    const auto index = profile_indices.find(call.function);
    calls.push_back(loop::MakeCall(call.function, std::move(args),
                                   index == profile_indices.end() ? -1 : index->second));
  }
  func.body = loop::MakeBlock(std::move(calls));
  return func;
}

}  // namespace kiln
