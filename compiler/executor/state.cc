// SPDX-License-Identifier: Apache-2.0
#include "compiler/executor/state.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/base/tensor.h"

namespace kiln {
namespace {

using loop::Buffer;
using loop::Expr;
using loop::Stmt;

const PlanBuffer& BufferOf(const Plan& plan, int id) {
  return plan.buffers[static_cast<size_t>(id)];
}

Buffer Flat(const char* name, DType dtype, int64_t elements) {
  return loop::MakeBuffer(name, dtype, {elements}, loop::BufferScope::kParam);
}

Stmt Loop(int64_t elements, const loop::Var& i, Stmt body) {
  return loop::MakeFor(i, Expr(0), Expr(elements), loop::ForKind::kSerial, std::move(body));
}

// Returns a function that sets all elements of a tensor, given its address.
loop::Func Fill(std::string name, const TensorType& type, double value) {
  const Buffer state = Flat("state", type.dtype, type.num_elements());
  const loop::Var i = loop::MakeVar("i");
  loop::Func func;
  func.name = std::move(name);
  func.params = {state};
  func.exported = false;
  func.body =
      Loop(type.num_elements(), i, loop::MakeStore(state, {i}, loop::Const(type.dtype, value)));
  return func;
}

}  // namespace

void AddStateCopies(const Plan& plan, loop::LoopProgram& program) {
  for (const PlanCall& call : plan.calls) {
    const bool is_copy = std::any_of(
        plan.states.begin(), plan.states.end(),
        [&](const auto& state) { return state.is_copied && call.args.back() == state.input; });
    if (!is_copy) continue;
    const TensorType& type = BufferOf(plan, call.args.back()).type;
    const Buffer from = Flat("next", type.dtype, type.num_elements()),
                 to = Flat("state", type.dtype, type.num_elements());
    const loop::Var i = loop::MakeVar("i");
    loop::Func func;
    func.name = call.function;
    func.params = {from, to};
    func.num_inputs = 1;
    func.body = Loop(type.num_elements(), i, loop::MakeStore(to, {i}, loop::MakeLoad(from, {i})));
    program.funcs.push_back(std::move(func));
  }
}

void AddStateBlock(const Plan& plan, const std::string& prefix, loop::LoopProgram& program) {
  const PlanPool& pool = plan.pools.back();
  const Buffer block = Flat("state", DType::UInt(8), pool.size_bytes);
  std::string bytes(static_cast<size_t>(pool.size_bytes), '\0');
  std::vector<Stmt> fills;
  for (size_t k = 0; k < plan.states.size(); ++k) {
    const PlanBuffer& buffer = BufferOf(plan, plan.states[k].input);
    if (buffer.bytes() == 0) continue;
    const std::string name = absl::StrCat(prefix, "_fill_state_", k);
    program.funcs.push_back(Fill(name, buffer.type, plan.states[k].initial));
    fills.push_back(loop::MakeCall(name, {{block, Expr(buffer.offset_bytes)}}));
    bytes.replace(static_cast<size_t>(buffer.offset_bytes), static_cast<size_t>(buffer.bytes()),
                  Tensor::Filled(buffer.type, plan.states[k].initial).bytes());
  }
  loop::Func initialize;
  initialize.name = prefix + "_initialize_state";
  initialize.params = {block};
  initialize.body = loop::MakeBlock(std::move(fills));
  program.funcs.push_back(std::move(initialize));
  if (pool.external) return;
  loop::DataDef data;
  data.name = prefix + "_state";
  data.c_type = "uint8_t";
  data.value = loop::DataValue::Raw(std::move(bytes));
  data.exported = true;
  data.writable = true;
  data.alignment_bytes = static_cast<int>(pool.alignment_bytes);
  program.data.push_back(std::move(data));
}

}  // namespace kiln
