// SPDX-License-Identifier: Apache-2.0
// Text of statements. The form is described in docs/loop_ir.md.
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/loop/expr_node.h"
#include "compiler/loop/loop.h"
#include "compiler/loop/print_expr.h"
#include "compiler/loop/print_stmt.h"

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

class StmtPrinter {
 public:
  StmtPrinter(NameTable& names, int indent) : names_(names), indent_(indent) {}

  void Print(const Stmt& s) {
    if (!s) return;
    std::visit([&](const auto& node) { PrintNode(node); }, s->value);
  }
  std::string Take() { return std::move(out_); }

 private:
  void Line(absl::string_view text) {
    absl::StrAppend(&out_, std::string(static_cast<size_t>(2 * indent_), ' '), text, "\n");
  }
  void Indented(const Stmt& s) {
    ++indent_;
    Print(s);
    --indent_;
  }
  // Prints the lets of `exprs`, and returns the printer that uses their names.
  ExprPrinter Begin(const std::vector<Expr>& exprs) {
    ExprPrinter printer(names_, let_count_);
    for (const std::string& let : printer.Lets(exprs)) Line(let);
    return printer;
  }

  // Prints "0..n" for a loop from 0, "3..8" between constants, and otherwise "a..+n" for n
  // iterations from a on.
  void PrintNode(const For& n) {
    int64_t begin, extent;
    const bool from_constant = AsInt(n.begin, &begin) && (begin == 0 || AsInt(n.extent, &extent));
    const Expr last = from_constant ? n.begin + n.extent : n.extent;
    ExprPrinter printer = Begin({n.begin, last});
    Line(Concat({"for ", names_.Of(n.var), " in ", printer.Print(n.begin),
                 from_constant ? ".." : "..+", printer.Print(last), KindSuffix(n.kind), " {"}));
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
    ExprPrinter printer = Begin({n.offset});
    Line(Concat({"prefetch ", names_.Of(n.buffer), "[", printer.Print(n.offset),
                 n.level == 1 ? "]" : absl::StrCat("] to cache ", n.level)}));
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
    Line(absl::StrCat("allocate ", DeclarationToString(names_, n.buffer),
                      workspace ? absl::StrCat(" workspace ", n.workspace_offset) : "",
                      fixed ? " static" : "", " {"));
    Indented(n.body);
    Line("}");
  }

  void PrintNode(const Call& n) {
    const std::string arguments = PrintArguments(n.args);
    const std::string profile =
        n.profile_index < 0 ? "" : absl::StrCat(" profile ", n.profile_index);
    Line(absl::StrCat("call ", SymbolToString(n.function), arguments, profile));
  }

  void PrintNode(const Launch& n) {
    const std::string arguments = PrintArguments(n.args);
    Line(absl::StrCat("launch ", n.max_tasks, " ", SymbolToString(n.function), arguments));
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
  int indent_;
  int let_count_ = 0;
  std::string out_;
};

}  // namespace

std::string PrintStmt(const Stmt& stmt, NameTable& names, int indent) {
  StmtPrinter printer(names, indent);
  printer.Print(stmt);
  return printer.Take();
}

std::string ToString(const Stmt& stmt) {
  NameTable names;
  return PrintStmt(stmt, names, 0);
}

}  // namespace kiln::loop
