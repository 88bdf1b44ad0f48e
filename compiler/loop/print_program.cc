// SPDX-License-Identifier: Apache-2.0
// Text of functions and programs, described in docs/loop_ir.md. It contains the whole program
// except the contents of large constants.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/loop/loop.h"
#include "compiler/loop/print_data.h"
#include "compiler/loop/print_expr.h"
#include "compiler/loop/print_stmt.h"

namespace kiln::loop {
namespace {

const char* KindWord(Func::Kind kind) {
  switch (kind) {
    case Func::Kind::kOperator:
      return "operator";
    case Func::Kind::kMain:
      return "main";
    case Func::Kind::kTask:
      return "task";
    case Func::Kind::kExternal:
      return "external";
  }
  return "";
}

std::string BufferList(NameTable& names, absl::Span<const Buffer> buffers) {
  return absl::StrJoin(buffers, ", ", [&](std::string* out, const Buffer& buffer) {
    absl::StrAppend(out, DeclarationToString(names, buffer));
  });
}

// The scalars, followed by the inputs.
std::string InputList(NameTable& names, const Func& func, absl::Span<const Buffer> inputs) {
  std::string text = absl::StrJoin(func.scalars, ", ", [&](std::string* out, const Var& scalar) {
    absl::StrAppend(out, names.Of(scalar), ": ", scalar.type().ToString());
  });
  if (!text.empty() && !inputs.empty()) absl::StrAppend(&text, ", ");
  return text + BufferList(names, inputs);
}

std::string HeadOf(const Func& func, NameTable& names) {
  std::string head;
  if (!func.exported) absl::StrAppend(&head, "internal ");
  if (func.convention == Convention::kPacked) absl::StrAppend(&head, "packed ");
  if (func.by_name) absl::StrAppend(&head, "by_name ");
  if (func.in_place) absl::StrAppend(&head, "in_place ");
  if (func.is_copy) absl::StrAppend(&head, "copy ");
  if (func.target > 0) absl::StrAppend(&head, "target ", func.target, " ");
  const absl::Span<const Buffer> params = func.params;
  const size_t num_inputs = static_cast<size_t>(func.num_inputs);
  const size_t num_pools = static_cast<size_t>(func.num_pools);
  const size_t num_contexts = static_cast<size_t>(func.num_contexts);
  const size_t num_outputs = params.size() - num_inputs - num_pools - num_contexts;
  head += Concat({KindWord(func.kind), " ", SymbolToString(func.name), "(",
                  InputList(names, func, params.subspan(0, num_inputs)), ") -> (",
                  BufferList(names, params.subspan(num_inputs, num_outputs)), ")"});
  if (num_pools > 0) {
    const auto pools = params.subspan(num_inputs + num_outputs, num_pools);
    absl::StrAppend(&head, " pools ", BufferList(names, pools));
  }
  if (num_contexts > 0) {
    const auto contexts = params.subspan(params.size() - num_contexts);
    absl::StrAppend(&head, " contexts ", BufferList(names, contexts));
  }
  if (func.workspace != nullptr) {
    absl::StrAppend(&head, func.allocate_workspace ? " allocates " : " workspace ",
                    BufferList(names, {func.workspace}));
  }
  return head;
}

std::string PrintFunc(const Func& func, NameTable& names) {
  const std::string head = HeadOf(func, names);
  if (func.kind == Func::Kind::kExternal) return head + "\n";
  return Concat({head, " {\n", PrintStmt(func.body, names, /*indent=*/1), "}\n"});
}

// Prints a constant. The text refers to it as w<k>. Its own name, which may be long, only occurs
// here.
std::string PrintConstant(const Constant& constant, NameTable& names) {
  const std::string& own = constant.buffer->name;
  const std::string& name = names.Of(constant.buffer);
  std::string text = "constant " + name;
  if (own != name) absl::StrAppend(&text, " ", QuotedToString(own));
  absl::StrAppend(&text, ": ", BufferTypeToString(*constant.buffer));
  if (const int alignment = constant.buffer->alignment_bytes; alignment != 0) {
    absl::StrAppend(&text, " align ", alignment);
  }
  if (!constant.pool.empty()) absl::StrAppend(&text, " pool ", SymbolToString(constant.pool));
  return absl::StrCat(text, " = ", ContentsToString(constant.tensor), "\n");
}

std::string PrintData(const DataDef& data) {
  std::string text =
      absl::StrCat(data.exported ? "" : "internal ", data.writable ? "variable " : "data ",
                   SymbolToString(data.name), ": ", QuotedToString(data.c_type));
  if (!data.c_header.empty()) absl::StrAppend(&text, " header ", QuotedToString(data.c_header));
  if (data.alignment_bytes != 0) absl::StrAppend(&text, " align ", data.alignment_bytes);
  return absl::StrCat(text, " = ", ToString(data.value), "\n");
}

std::string PrintGetter(const HandleGetter& getter) {
  return absl::StrCat(getter.packed ? "packed " : "", getter.weak ? "weak " : "", "getter ",
                      SymbolToString(getter.name), " of ", SymbolToString(getter.data_symbol),
                      "\n");
}

std::string TextsToString(const std::vector<std::string>& texts) {
  return absl::StrCat("(",
                      absl::StrJoin(texts, ", ",
                                    [](std::string* out, const std::string& text) {
                                      absl::StrAppend(out, QuotedToString(text));
                                    }),
                      ")");
}

std::string PrintCpuChoice(const CpuChoice& choice) {
  return absl::StrCat(
      choice.packed ? "packed " : "", "cpu_choice ", SymbolToString(choice.function),
      " decided by ", SymbolToString(choice.decide), " get ", SymbolToString(choice.get), " set ",
      SymbolToString(choice.set), "\n  lacks ", TextsToString(choice.lacks), "\n  refusals ",
      TextsToString(choice.refusals), "\n  unknown ", QuotedToString(choice.unknown), "\n");
}

}  // namespace

std::string ToString(const Func& func) {
  NameTable names;
  return PrintFunc(func, names);
}

std::string ToString(const LoopProgram& program) {
  NameTable constants;
  std::string text;
  for (size_t i = 0; i < program.constants.size(); ++i) {
    constants.Set(program.constants[i].buffer, absl::StrCat("w", i));
    absl::StrAppend(&text, PrintConstant(program.constants[i], constants));
  }
  for (const DataDef& data : program.data) absl::StrAppend(&text, PrintData(data));
  for (const HandleGetter& getter : program.getters) absl::StrAppend(&text, PrintGetter(getter));
  if (!program.profile_hook.empty()) {
    absl::StrAppend(&text, "profile_hook ", SymbolToString(program.profile_hook), "\n");
  }
  if (!program.targets.empty()) {
    absl::StrAppend(&text, "targets ", TextsToString(program.targets), "\n");
  }
  if (program.cpu_choice) absl::StrAppend(&text, PrintCpuChoice(*program.cpu_choice));
  for (const Func& func : program.funcs) {
    if (!text.empty()) absl::StrAppend(&text, "\n");
    // Constants keep their names in every function; all others are assigned again.
    NameTable names(&constants);
    absl::StrAppend(&text, PrintFunc(func, names));
  }
  return text;
}

}  // namespace kiln::loop
