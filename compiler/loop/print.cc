// SPDX-License-Identifier: Apache-2.0
// Text of statements, functions and programs. The form is described in docs/loop_ir.md.
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/loop/expr_node.h"
#include "compiler/loop/loop.h"
#include "compiler/loop/print_data.h"
#include "compiler/loop/print_expr.h"

namespace kiln::loop {
namespace {

const char* KindSuffix(ForKind kind) {
  switch (kind) {
    case ForKind::kSerial:
      return "";
    case ForKind::kParallel:
      return " parallel";
    case ForKind::kVectorized:
      return " vectorized";
    case ForKind::kUnrolled:
      return " unrolled";
  }
  return "";
}

const char* KindPrefix(Func::Kind kind) {
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

class StmtPrinter {
 public:
  explicit StmtPrinter(NameTable& names) : names_(names) {}

  void Print(const Stmt& s) {
    if (!s) return;
    std::visit([&](const auto& node) { PrintNode(node); }, s->value);
  }
  void Line(absl::string_view text) {
    absl::StrAppend(&out_, std::string(static_cast<size_t>(2 * indent_), ' '), text, "\n");
  }
  void Indented(const Stmt& s) {
    ++indent_;
    Print(s);
    --indent_;
  }
  std::string Take() { return std::move(out_); }

 private:
  // Prints the lets of `exprs`, and returns the printer that knows them.
  ExprPrinter Begin(const std::vector<Expr>& exprs) {
    ExprPrinter printer(names_, let_count_);
    for (const std::string& let : printer.Lets(exprs)) Line(let);
    return printer;
  }

  void PrintNode(const For& n) {
    const Expr end = n.begin + n.extent;
    ExprPrinter printer = Begin({n.begin, end});
    Line(Concat({"for ", names_.Of(n.var), " in ", printer.Print(n.begin), "..", printer.Print(end),
                 KindSuffix(n.kind), " {"}));
    Indented(n.body);
    Line("}");
  }

  void PrintNode(const Store& n) {
    std::vector<Expr> exprs = n.index;
    exprs.push_back(n.value);
    ExprPrinter printer = Begin(exprs);
    Line(Concat({names_.Of(n.buffer), printer.PrintIndex(n.index), " = ", printer.Print(n.value)}));
  }

  void PrintNode(const Block& n) {
    for (const Stmt& stmt : n.stmts) Print(stmt);
  }

  void PrintNode(const Prefetch& n) {
    Line(absl::StrCat("prefetch ", names_.Of(n.buffer), "[", Begin({n.offset}).Print(n.offset),
                      n.level == 1 ? "]" : absl::StrCat("] to cache ", n.level)));
  }

  void PrintNode(const If& n) {
    Line(absl::StrCat("if ", Begin({n.condition}).Print(n.condition), " {"));
    Indented(n.then_body);
    if (n.else_body) {
      Line("} else {");
      Indented(n.else_body);
    }
    Line("}");
  }

  void PrintNode(const Allocate& n) {
    const bool workspace = n.buffer->scope == BufferScope::kWorkspace;
    const bool fixed = n.buffer->scope == BufferScope::kStatic;
    Line(absl::StrCat("allocate ", names_.Of(n.buffer), ": ", BufferTypeToString(*n.buffer),
                      workspace ? absl::StrCat(" workspace ", n.workspace_offset) : "",
                      fixed ? " static" : "", " {"));
    Indented(n.body);
    Line("}");
  }

  void PrintNode(const Call& n) {
    const std::string arguments = PrintArguments(n.args);
    const std::string profile =
        n.profile_index < 0 ? "" : absl::StrCat(" profile ", n.profile_index);
    Line(absl::StrCat("call ", n.function, arguments, profile));
  }

  void PrintNode(const Launch& n) {
    const std::string arguments = PrintArguments(n.args);
    Line(absl::StrCat("launch ", n.max_tasks, " ", n.function, arguments));
  }

  void PrintNode(const Fail& n) {
    const std::string number = Begin({n.number}).Print(n.number);
    Line(Concat({"fail ", Quoted(n.before), ", ", number, ", ", Quoted(n.after)}));
  }

  static std::string Quoted(absl::string_view text) {
    return absl::StrCat("\"", absl::Utf8SafeCEscape(text), "\"");
  }

  std::string PrintArguments(const std::vector<Argument>& args) {
    std::vector<Expr> exprs;
    for (const Argument& a : args) exprs.push_back(a.offset);
    ExprPrinter printer = Begin(exprs);
    return absl::StrCat("(",
                        absl::StrJoin(args, ", ",
                                      [&](std::string* out, const Argument& a) {
                                        if (a.buffer != nullptr) {
                                          absl::StrAppend(out, names_.Of(a.buffer));
                                          if (!IsInt(a.offset, 0)) absl::StrAppend(out, " + ");
                                        }
                                        if (a.buffer == nullptr || !IsInt(a.offset, 0)) {
                                          absl::StrAppend(out, printer.Print(a.offset));
                                        }
                                      }),
                        ")");
  }

  NameTable& names_;
  int let_count_ = 0;
  int indent_ = 0;
  std::string out_;
};

std::string BufferList(NameTable& names, absl::Span<const Buffer> buffers) {
  return absl::StrJoin(buffers, ", ", [&](std::string* out, const Buffer& buffer) {
    absl::StrAppend(out, names.Of(buffer), ": ", BufferTypeToString(*buffer));
  });
}

std::string PrintFunc(const Func& func, NameTable& names) {
  std::string head;
  if (!func.exported) absl::StrAppend(&head, "internal ");
  if (func.convention == Convention::kPacked) absl::StrAppend(&head, "packed ");
  if (func.by_name) absl::StrAppend(&head, "by_name ");
  if (func.cpu_variant >= 0) absl::StrAppend(&head, "cpu_variant ", func.cpu_variant, " ");
  absl::StrAppend(&head, KindPrefix(func.kind), " ", func.name, "(");
  const absl::Span<const Buffer> params = func.params;
  const size_t num_inputs = static_cast<size_t>(func.num_inputs);
  for (const Var& scalar : func.scalars) absl::StrAppend(&head, names.Of(scalar), ": index, ");
  if (!func.scalars.empty() && num_inputs == 0) head.resize(head.size() - 2);
  const size_t num_pools = static_cast<size_t>(func.num_pools);
  const size_t num_contexts = static_cast<size_t>(func.num_contexts);
  const size_t num_outputs = params.size() - num_inputs - num_pools - num_contexts;
  head += Concat({BufferList(names, params.subspan(0, num_inputs)), ") -> (",
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
  StmtPrinter printer(names);
  if (func.kind == Func::Kind::kExternal) {
    printer.Line(head);
    return printer.Take();
  }
  printer.Line(head + " {");
  printer.Indented(func.body);
  printer.Line("}");
  return printer.Take();
}

}  // namespace

std::string ToString(const Stmt& stmt) {
  NameTable names;
  StmtPrinter printer(names);
  printer.Print(stmt);
  return printer.Take();
}

std::string ToString(const Func& func) {
  NameTable names;
  return PrintFunc(func, names);
}

std::string ToString(const LoopProgram& program) {
  NameTable constants;
  std::string text;
  for (const Constant& constant : program.constants) {
    absl::StrAppend(&text, "constant ", constants.Of(constant.buffer), ": ",
                    BufferTypeToString(*constant.buffer), " #", ShortHash(constant.tensor.bytes()),
                    "\n");
  }
  for (const DataDef& data : program.data) {
    absl::StrAppend(&text, data.exported ? "" : "internal ", data.writable ? "variable " : "data ",
                    data.name, ": ", data.c_type, " = ", ToString(data.value), "\n");
  }
  if (const auto& choice = program.cpu_choice) {
    absl::StrAppend(&text, "cpu_choice ", choice->function, " decides by ", choice->decide,
                    " among ", absl::StrJoin(choice->variants, ", "), "\n");
  }
  for (const Func& func : program.funcs) {
    if (!text.empty()) absl::StrAppend(&text, "\n");
    // Constants keep their names in every function; the rest is named anew.
    NameTable names = constants;
    absl::StrAppend(&text, PrintFunc(func, names));
  }
  return text;
}

}  // namespace kiln::loop
