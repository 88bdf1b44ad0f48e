// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/loop/func_index.h"
#include "compiler/loop/passes.h"

namespace kiln::loop {
namespace {

// The calls of one new function, and the buffers that they pass.
struct CallPart {
  std::vector<Stmt> calls;
  std::vector<Buffer> buffers;  // in the order of first use
  std::unordered_set<const BufferNode*> seen;
  std::unordered_set<const BufferNode*> written;

  size_t NumBuffersWith(const Call& call) const {
    std::unordered_set<const BufferNode*> others;
    for (const Argument& arg : call.args) {
      if (!seen.contains(arg.buffer.get())) others.insert(arg.buffer.get());
    }
    return seen.size() + others.size();
  }

  void Add(const Stmt& s, int num_inputs) {
    const Call& call = *s.As<Call>();
    for (size_t i = 0; i < call.args.size(); ++i) {
      const Buffer& buffer = call.args[i].buffer;
      if (seen.insert(buffer.get()).second) buffers.push_back(buffer);
      if (i >= static_cast<size_t>(num_inputs)) written.insert(buffer.get());
    }
    calls.push_back(s);
  }
};

// True if `s` is a call of a function of the program that passes only parameters at constant
// offsets.
bool IsPlainCall(const Stmt& s, const FuncIndex& callees) {
  const auto* call = s.As<Call>();
  if (call == nullptr || callees.Find(call->function) == nullptr) return false;
  for (const Argument& arg : call->args) {
    int64_t offset;
    if (arg.buffer == nullptr || arg.buffer->scope != BufferScope::kParam ||
        !AsInt(arg.offset, &offset)) {
      return false;
    }
  }
  return true;
}

// Returns a function that makes the calls, and sets `call` to the call of it.
Func MakePart(const CallPart& part, std::string name, Stmt* call) {
  Func func;
  func.name = std::move(name);
  func.exported = false;
  std::unordered_map<const BufferNode*, Buffer> params;
  std::vector<Argument> args;
  for (const bool written : {false, true}) {
    for (const Buffer& buffer : part.buffers) {
      if (part.written.contains(buffer.get()) != written) continue;
      func.params.push_back(MakeBuffer(buffer->name, buffer->dtype, buffer->shape,
                                       BufferScope::kParam, buffer->alignment_bytes));
      params[buffer.get()] = func.params.back();
      args.push_back({buffer, Expr(0)});
    }
    if (!written) func.num_inputs = static_cast<int>(func.params.size());
  }
  std::vector<Stmt> calls;
  for (const Stmt& s : part.calls) {
    const Call& old = *s.As<Call>();
    std::vector<Argument> inside;
    for (const Argument& arg : old.args)
      inside.push_back({params.at(arg.buffer.get()), arg.offset});
    calls.push_back(MakeCall(old.function, std::move(inside), old.profile_index));
  }
  func.body = MakeBlock(std::move(calls));
  *call = MakeCall(func.name, std::move(args));
  return func;
}

}  // namespace

std::vector<Func> SplitCalls(const LoopProgram& program, size_t max_calls, Func& func) {
  std::vector<Func> parts;
  const auto* block = func.body.As<Block>();
  if (block == nullptr || block->stmts.size() <= max_calls) return parts;
  const FuncIndex callees(program);
  for (const Stmt& s : block->stmts) {
    if (!IsPlainCall(s, callees)) return parts;
  }
  std::vector<Stmt> calls;
  CallPart part;
  const auto finish = [&] {
    parts.push_back(
        MakePart(part, absl::StrCat(func.name, "_part", parts.size()), &calls.emplace_back()));
    part = {};
  };
  for (const Stmt& s : block->stmts) {
    const Call& call = *s.As<Call>();
    if (part.calls.size() == max_calls ||
        (!part.calls.empty() && part.NumBuffersWith(call) > max_calls)) {
      finish();
    }
    part.Add(s, callees.Find(call.function)->num_inputs);
  }
  finish();
  func.body = MakeBlock(std::move(calls));
  return parts;
}

}  // namespace kiln::loop
