// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/loop/mutate.h"
#include "compiler/loop/passes.h"

namespace kiln::loop {
namespace {

// A function that only calls another one, and that call. It passes whole parameters, whole
// constants and numbers.
struct Forwarder {
  std::vector<Buffer> params;  // followed by the workspace
  Call call;
};
using Forwarders = std::unordered_map<std::string, Forwarder>;

bool IsForwarder(const Func& func) {
  const auto* call = func.body.As<Call>();
  if (func.kind != Func::Kind::kOperator || call == nullptr || call->profile_index >= 0 ||
      func.allocate_workspace || !func.scalars.empty()) {
    return false;
  }
  return std::all_of(call->args.begin(), call->args.end(), [](const Argument& arg) {
    int64_t number = 0;
    return AsInt(arg.offset, &number) && (arg.buffer == nullptr || number == 0);
  });
}

Forwarder ForwarderOf(const Func& func) {
  Forwarder forwarder = {.params = func.params, .call = *func.body.As<Call>()};
  if (func.workspace != nullptr) forwarder.params.push_back(func.workspace);
  return forwarder;
}

// Returns the arguments for the forwarder's callee if the forwarder is called with `args`.
std::vector<Argument> ArgumentsBehind(const Forwarder& forwarder,
                                      const std::vector<Argument>& args) {
  std::vector<Argument> behind = forwarder.call.args;
  for (Argument& arg : behind) {
    const auto param = std::find(forwarder.params.begin(), forwarder.params.end(), arg.buffer);
    if (arg.buffer == nullptr || param == forwarder.params.end()) continue;
    arg = args[static_cast<size_t>(param - forwarder.params.begin())];
  }
  return behind;
}

Stmt CallBehind(const Stmt& body, const Forwarders& forwarders) {
  return MutateStmt(body, [&](const Stmt& s) {
    const auto* call = s.As<Call>();
    if (call == nullptr) return s;
    const auto it = forwarders.find(call->function);
    if (it == forwarders.end()) return s;
    return MakeCall(it->second.call.function, ArgumentsBehind(it->second, call->args),
                    call->profile_index);
  });
}

}  // namespace

void InlineCalls(LoopProgram& program) {
  Forwarders forwarders;
  std::vector<Func> kept;
  // Callees come before their callers.
  for (Func& func : program.funcs) {
    if (func.body) func.body = CallBehind(func.body, forwarders);
    const bool forwards = IsForwarder(func);
    if (forwards) forwarders.emplace(func.name, ForwarderOf(func));
    if (!forwards || func.exported) kept.push_back(std::move(func));
  }
  program.funcs = std::move(kept);
}

}  // namespace kiln::loop
