// SPDX-License-Identifier: Apache-2.0
// Calls and launches of FunctionPrinter.
#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/codegen/c/analysis.h"
#include "compiler/codegen/c/function_printer.h"
#include "compiler/codegen/c/literals.h"

namespace kiln::codegen {

using loop::Argument;
using loop::Buffer;

namespace {

std::string AsVoidPointer(const std::string& address) {
  return absl::StrContains(address, ' ') ? absl::StrCat("(void*)(", address, ")")
                                         : absl::StrCat("(void*)", address);
}

}  // namespace

std::string FunctionPrinter::Address(const Argument& arg, DType dtype, bool written) {
  const std::string* name = exprs_.NameOf(arg.buffer.get());
  if (name == nullptr) {
    Fail(absl::StrCat(func_.name, " passes the buffer ", arg.buffer->name,
                      ", which is not in scope"));
    return "0";
  }
  std::string address = *name;
  const auto* imm = arg.offset.As<loop::IntImm>();
  const bool at_start = arg.offset.get() == nullptr || (imm != nullptr && imm->value == 0);
  if (!at_start) {
    exprs_.Begin({&arg.offset});
    address = absl::StrCat(address, " + ", exprs_.Print(arg.offset, kMultiplicative));
  }
  if (CType(arg.buffer->dtype) == CType(dtype)) return address;
  if (address != *name) address = absl::StrCat("(", address, ")");
  return absl::StrCat(written ? "(void*)" : "(const void*)", address);
}

void FunctionPrinter::ReturnIfNonZero(const std::string& call) {
  lines_.Line(absl::StrCat(kStatus, " = ", call, ";"));
  lines_.Line(absl::StrCat("if (", kStatus, " != 0) return ", kStatus, ";"));
}

void FunctionPrinter::PrintCall(const loop::Call& node) {
  const FuncInfo& callee = context_.funcs.at(node.function);
  PrintProfileHook(node.profile_index, true);
  if (callee.func->convention == loop::Convention::kPacked) {
    PrintPackedCall(callee, node.args);
  } else {
    PrintUnpackedCall(callee, node.args);
  }
  PrintProfileHook(node.profile_index, false);
}

void FunctionPrinter::PrintProfileHook(int32_t profile_index, bool begin) {
  if (profile_index < 0) return;
  const std::string& hook = context_.program.profile_hook;
  lines_.Line(
      absl::StrCat("if (", hook, ") ", hook, "(", profile_index, ", ", begin ? 1 : 0, ");"));
}

void FunctionPrinter::PrintUnpackedCall(const FuncInfo& callee, const std::vector<Argument>& args) {
  const std::vector<Buffer> params = PointerParams(*callee.func);
  const std::vector<absl::string_view> untyped = UntypedPointers(callee);
  std::vector<std::string> list;
  for (const Argument& arg : args) {
    if (arg.buffer == nullptr) {
      exprs_.Begin({&arg.offset});
      list.push_back(exprs_.Print(arg.offset));
      continue;
    }
    const size_t i = list.size();
    std::string address = Address(arg, params[i]->dtype, callee.written[i]);
    // The callee takes void* but does not write, so it is safe to cast const away.
    const bool loses_const = callee.untyped && !callee.written[i] && untyped[i] == "void*";
    if (loses_const) address = AsVoidPointer(address);
    list.push_back(std::move(address));
  }
  ReturnIfNonZero(absl::StrCat(callee.func->name, "(", absl::StrJoin(list, ", "), ")"));
}

void FunctionPrinter::PrintPackedCall(const FuncInfo& callee, const std::vector<Argument>& args) {
  const std::vector<Buffer> params = PointerParams(*callee.func);
  context_.uses_tvm_headers = true;
  context_.uses_call_tensor = true;
  const size_t n = args.size();
  lines_.Open("{");
  for (size_t i = 0; i < n; ++i) {
    if (args[i].buffer == nullptr)
      return Fail(absl::StrCat(func_.name, " passes an integer to the packed function ",
                               callee.func->name));
    const Shape& shape = params[i]->shape;
    lines_.Line(absl::StrCat("static const int64_t kiln_shape", i, "[",
                             std::max<size_t>(1, shape.size()), "] = ", ShapeInitializer(shape),
                             ";"));
  }
  lines_.Line(absl::StrCat("DLTensor tensors[", std::max<size_t>(1, n), "];"));
  lines_.Line(absl::StrCat("TVMValue values[", std::max<size_t>(1, n), "];"));
  lines_.Line(absl::StrCat("int codes[", std::max<size_t>(1, n), "];"));
  if (callee.func->by_name) lines_.Line("TVMFunctionHandle function;");
  lines_.Line("TVMValue result;");
  lines_.Line("int result_code = kTVMNullptr;");
  lines_.Line("result.v_int64 = 0;");
  for (size_t i = 0; i < n; ++i) {
    const std::string address = Address(args[i], params[i]->dtype, true);
    lines_.Line(absl::StrCat("kiln_argument(&tensors[", i, "], &values[", i, "], &codes[", i, "], ",
                             AsVoidPointer(address), ", ", params[i]->shape.size(), ", ",
                             DLDataTypeFields(params[i]->dtype), ", kiln_shape", i, ");"));
  }
  const std::string result_args = absl::StrCat("values, codes, ", n, ", &result, &result_code");
  if (callee.func->by_name) {
    PrintLookup(callee.func->name);
    ReturnIfNonZero(absl::StrCat(context_.Runtime("TVMFuncCall"), "(function, ", result_args, ")"));
  } else {
    ReturnIfNonZero(absl::StrCat(callee.func->name, "(", result_args, ", NULL)"));
  }
  lines_.Close();
}

void FunctionPrinter::PrintLookup(const std::string& function) {
  context_.uses_module_context = true;
  const std::string& module = context_.options.module_context;
  ReturnIfNonZero(absl::StrCat(context_.Runtime("TVMBackendGetFuncFromEnv"), "(",
                               module.empty() ? "NULL" : module, ", ", StringLiteral(function),
                               ", &function)"));
}

void FunctionPrinter::PrintLaunch(const loop::Launch& node) {
  const FuncInfo& callee = context_.funcs.at(node.function);
  const loop::Func& task = *callee.func;
  if (task.kind != loop::Func::Kind::kTask)
    return Fail(absl::StrCat("launch of ", task.name, ", which is no task"));
  const std::vector<Buffer> params = PointerParams(task);
  lines_.Open("{");
  lines_.Line(absl::StrCat("struct ", task.name, "_closure closure;"));
  size_t pointer = 0, scalar = 2;
  for (const Argument& arg : node.args) {
    if (arg.buffer != nullptr) {
      const std::string address = Address(arg, params[pointer]->dtype, callee.written[pointer]);
      lines_.Line(absl::StrCat("closure.", callee.pointer_names[pointer], " = ", address, ";"));
      ++pointer;
    } else if (scalar < callee.scalar_names.size()) {
      exprs_.Begin({&arg.offset});
      const std::string value = exprs_.Print(arg.offset);
      lines_.Line(absl::StrCat("closure.", callee.scalar_names[scalar++], " = ", value, ";"));
    } else {
      return Fail(absl::StrCat("launch of ", task.name, " with more integers than it takes"));
    }
  }
  if (node.args.empty()) lines_.Line("closure.unused = 0;");
  ReturnIfNonZero(absl::StrCat(context_.Runtime("TVMBackendParallelLaunch"), "(", task.name,
                               "_launch, &closure, 0)"));
  lines_.Close();
}

}  // namespace kiln::codegen
