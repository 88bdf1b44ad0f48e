// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/c/analysis.h"

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/codegen/c/constant_printer.h"
#include "compiler/codegen/c/literals.h"
#include "compiler/loop/mutate.h"

namespace kiln::codegen {
namespace {

using loop::Argument;
using loop::Buffer;
using loop::BufferNode;
using loop::Expr;
using loop::Func;
using loop::Stmt;

// Calls f(name of the callee, its arguments) for every Call and Launch of the statement.
template <typename F>
void ForEachCall(const Stmt& body, F f) {
  if (!body) return;
  loop::VisitStmt(
      body, [](const Expr&) {},
      [&f](const Stmt& s) {
        if (const auto* call = s.As<loop::Call>()) f(call->function, call->args);
        if (const auto* launch = s.As<loop::Launch>()) f(launch->function, launch->args);
      });
}

std::vector<Argument> PointerArguments(const std::vector<Argument>& args) {
  std::vector<Argument> result;
  for (const Argument& arg : args) {
    if (arg.buffer != nullptr) result.push_back(arg);
  }
  return result;
}

// Offset in elements, or -1 if it is not constant.
int64_t ConstantOffset(const Argument& arg) {
  if (arg.offset.get() == nullptr) return 0;
  const auto* imm = arg.offset.As<loop::IntImm>();
  return imm != nullptr ? imm->value : -1;
}

// True if two of the arguments may share a byte.
bool Overlap(const std::vector<Argument>& args, const std::vector<Buffer>& params) {
  for (size_t i = 0; i < args.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (args[i].buffer != args[j].buffer) continue;
      const int64_t a = ConstantOffset(args[i]), b = ConstantOffset(args[j]);
      if (a < 0 || b < 0) return true;
      const int64_t bytes = args[i].buffer->dtype.bytes();
      if (a * bytes < b * bytes + params[j]->num_bytes() &&
          b * bytes < a * bytes + params[i]->num_bytes())
        return true;
    }
  }
  return false;
}

size_t NumInputs(const Func& func) { return static_cast<size_t>(func.num_inputs); }

// Callees come before callers in the program, so their writes are already known.
absl::Status FindWrites(CContext& context, const Func& func, FuncInfo& info) {
  absl::flat_hash_set<const BufferNode*> written;
  absl::Status status;
  if (func.body) {
    loop::VisitStmt(
        func.body, [](const Expr&) {},
        [&](const Stmt& s) {
          if (const auto* store = s.As<loop::Store>()) written.insert(store->buffer.get());
          const auto* allocate = s.As<loop::Allocate>();
          if (allocate != nullptr && allocate->buffer->scope == loop::BufferScope::kWorkspace) {
            written.insert(func.workspace.get());
          }
        });
  }
  ForEachCall(func.body, [&](const std::string& name, const std::vector<Argument>& all_args) {
    auto callee = context.funcs.find(name);
    if (callee == context.funcs.end()) {
      status.Update(absl::InternalError(absl::StrCat("C code generator: ", func.name, " calls ",
                                                     name, ", which is not defined before it")));
      return;
    }
    const std::vector<Argument> args = PointerArguments(all_args);
    const std::vector<Buffer> params = PointerParams(*callee->second.func);
    if (args.size() != params.size()) {
      status.Update(absl::InternalError(absl::StrCat("C code generator: ", func.name, " calls ",
                                                     name, " with ", args.size(),
                                                     " buffers instead of ", params.size())));
      return;
    }
    for (size_t i = 0; i < args.size(); ++i) {
      if (callee->second.written[i]) written.insert(args[i].buffer.get());
      if (args[i].buffer->scope != loop::BufferScope::kConstant) {
        callee->second.takes_memory[i] = true;
      }
    }
    if (Overlap(args, params)) callee->second.overlaps = true;
  });
  for (size_t i = 0; const Buffer& param : PointerParams(func)) {
    const bool external_output = func.kind == Func::Kind::kExternal && i++ >= NumInputs(func);
    info.written.push_back(external_output || written.contains(param.get()));
  }
  return status;
}

// Marks the function and its callees as used, and passes `overlaps` on to the callees.
void MarkUsed(CContext& context, const std::string& name) {
  FuncInfo& info = context.funcs.at(name);
  info.used = true;
  ForEachCall(info.func->body, [&](const std::string& callee, const std::vector<Argument>& args) {
    FuncInfo& called = context.funcs.at(callee);
    const bool tells_more = info.overlaps && !called.overlaps;
    called.overlaps = called.overlaps || info.overlaps;
    for (const Argument& arg : args) {
      if (arg.buffer != nullptr) context.used_constants.insert(arg.buffer.get());
    }
    if (!called.used || tells_more) MarkUsed(context, callee);
  });
  if (!info.func->body) return;
  loop::VisitStmt(info.func->body, [&](const Expr& e) {
    if (const auto* load = e.As<loop::Load>()) context.used_constants.insert(load->buffer.get());
  });
}

// Marks the functions of this program whose addresses are in the data.
void MarkReferenced(CContext& context, const loop::DataValue& value) {
  if (const auto* address = std::get_if<loop::DataValue::FuncAddress>(&value.value)) {
    if (context.funcs.find(address->symbol) != context.funcs.end())
      MarkUsed(context, address->symbol);
  } else if (const auto* aggregate = std::get_if<loop::DataValue::Aggregate>(&value.value)) {
    for (const loop::DataValue& field : aggregate->fields) MarkReferenced(context, field);
  }
}

absl::Status AddPublicNames(CContext& context) {
  // Further names that the printers use, besides those with the prefix "kiln_".
  for (const char* name : {"args", "cdata", "closure", "codes", "data", "num_args", "penv",
                           "resource_handle", "result", "result_code", "ret_type_code", "ret_value",
                           "task_id", "tensors", "type_codes", "values"}) {
    context.names.AddExactGlobal(name);
  }
  const auto add = [&context](const std::string& name) {
    if (context.names.AddExactGlobal(name)) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(
        "C code generator: '", name, "' cannot be the name of a function or of data: it is ",
        IsCIdentifier(name) ? "taken" : "no identifier of C"));
  };
  for (const Func& func : context.program.funcs) KILN_RETURN_IF_ERROR(add(func.name));
  for (const auto& getter : context.program.getters) KILN_RETURN_IF_ERROR(add(getter.name));
  for (const auto& data : context.program.data) KILN_RETURN_IF_ERROR(add(data.name));
  if (const auto& choice = context.program.cpu_choice) {
    KILN_RETURN_IF_ERROR(add(choice->get));
    KILN_RETURN_IF_ERROR(add(choice->set));
  }
  return absl::OkStatus();
}

}  // namespace

bool IsDefined(const Func& func) { return func.kind != Func::Kind::kExternal; }

bool IsScratch(const Func& func, const Buffer& param) {
  const size_t end = func.params.size() - static_cast<size_t>(func.num_contexts);
  for (size_t i = end - static_cast<size_t>(func.num_pools); i < end; ++i) {
    if (func.params[i] == param) return true;
  }
  return param == func.workspace;
}

std::vector<Buffer> PointerParams(const Func& func) {
  std::vector<Buffer> result = func.params;
  if (func.workspace != nullptr && !func.allocate_workspace) result.push_back(func.workspace);
  return result;
}

std::vector<absl::string_view> UntypedPointers(const FuncInfo& info) {
  const Func& func = *info.func;
  const std::vector<Buffer> params = PointerParams(func);
  std::vector<absl::string_view> pointers;
  for (size_t i = 0; i < params.size(); ++i) {
    const bool is_input = func.kind == Func::Kind::kMain && i < NumInputs(func);
    pointers.push_back(IsScratch(func, params[i])     ? "uint8_t*"
                       : is_input && !info.written[i] ? "const void*"
                                                      : "void*");
  }
  return pointers;
}

absl::flat_hash_set<const BufferNode*> DirectlyUsed(const CContext& context, const Func& func) {
  absl::flat_hash_set<const BufferNode*> result;
  if (!func.body) return result;
  loop::VisitStmt(
      func.body,
      [&result](const Expr& e) {
        if (const auto* load = e.As<loop::Load>()) result.insert(load->buffer.get());
      },
      [&result](const Stmt& s) {
        if (const auto* store = s.As<loop::Store>()) result.insert(store->buffer.get());
      });
  ForEachCall(func.body, [&](const std::string& name, const std::vector<Argument>& all_args) {
    const std::vector<Buffer> params = PointerParams(*context.funcs.at(name).func);
    const std::vector<Argument> args = PointerArguments(all_args);
    for (size_t i = 0; i < args.size(); ++i) {
      const bool same_type = CType(params[i]->dtype) == CType(args[i].buffer->dtype);
      if (ConstantOffset(args[i]) != 0 || !same_type) result.insert(args[i].buffer.get());
    }
  });
  return result;
}

absl::Status Analyse(CContext& context) {
  KILN_RETURN_IF_ERROR(AddPublicNames(context));
  for (const Func& func : context.program.funcs) {
    FuncInfo info;
    info.func = &func;
    info.untyped = (func.exported || !IsDefined(func)) &&
                   func.convention == loop::Convention::kUnpacked && func.kind != Func::Kind::kTask;
    info.body_name = func.name;
    info.overlaps = func.in_place;
    // Other functions have unknown callers, or callers that do not pass arguments one by one.
    const bool is_plain = !func.exported && func.kind == Func::Kind::kOperator &&
                          func.convention == loop::Convention::kUnpacked;
    info.takes_memory.assign(PointerParams(func).size(), !is_plain);
    KILN_RETURN_IF_ERROR(FindWrites(context, func, info));
    context.funcs.emplace(func.name, std::move(info));
  }
  for (auto& [name, info] : context.funcs) {
    if (info.func->convention == loop::Convention::kPacked && IsDefined(*info.func) &&
        info.func->kind != Func::Kind::kTask) {
      info.body_name = context.names.AddGlobal(absl::StrCat(name, "_body"));
    }
  }
  for (const loop::Constant& constant : context.program.constants) {
    const std::string name = context.names.AddGlobal(constant.buffer->name);
    context.constant_names.emplace(constant.buffer.get(), name);
    context.constants.emplace(constant.buffer.get(), ConstantArray(context, constant, name));
  }
  for (const Func& func : context.program.funcs) {
    if (func.exported && IsDefined(func) && func.kind != Func::Kind::kTask) {
      MarkUsed(context, func.name);
    }
  }
  for (const loop::DataDef& data : context.program.data) MarkReferenced(context, data.value);
  if (const auto& choice = context.program.cpu_choice) {
    MarkUsed(context, choice->decide);
    MarkUsed(context, choice->function);
  }
  return absl::OkStatus();
}

}  // namespace kiln::codegen
