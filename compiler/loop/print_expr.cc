// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/print_expr.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/loop/expr_node.h"
#include "compiler/loop/expr_words.h"

namespace kiln::loop {
namespace {

// Depth from which a subexpression gets a name of its own; it bounds the recursion of the printer.
constexpr int kMaxPrintedDepth = 64;

// True if `e` is too short for a name of its own.
bool IsLeaf(const Expr& e) {
  if (const Broadcast* broadcast = e.As<Broadcast>()) return IsLeaf(broadcast->a);
  if (const Ramp* ramp = e.As<Ramp>()) return IsLeaf(ramp->base);
  return e.As<VarNode>() != nullptr || IsConstant(e);
}

}  // namespace

std::vector<std::string> ExprPrinter::Lets(const std::vector<Expr>& roots) {
  std::unordered_map<const ExprNode*, int> uses;
  std::unordered_map<const ExprNode*, int> depths;
  std::vector<Expr> order;
  std::unordered_set<const ExprNode*> visited;
  for (const Expr& root : roots) {
    ++uses[root.get()];
    WalkPostOrder(root, visited, [&](const Expr& e) {
      ForEachOperand(*e, [&](const Expr& operand) { ++uses[operand.get()]; });
      order.push_back(e);
    });
  }
  std::vector<std::string> lines;
  for (const Expr& e : order) {
    if (IsLeaf(e)) continue;
    int depth = 0;
    ForEachOperand(*e,
                   [&](const Expr& operand) { depth = std::max(depth, depths[operand.get()]); });
    if (uses[e.get()] > 1 || depth >= kMaxPrintedDepth) {
      std::string text = PrintNode(e, 0);
      std::string name = names_.Fresh(absl::StrCat("t", let_count_++));
      lines.push_back(absl::StrCat("let ", name, " = ", text));
      lets_.emplace(e.get(), std::move(name));
      depth = -1;
    }
    depths[e.get()] = depth + 1;
  }
  return lines;
}

std::string ExprPrinter::PrintIndex(const std::vector<Expr>& index) {
  return absl::StrCat(
      "[",
      absl::StrJoin(index, ", ",
                    [&](std::string* out, const Expr& i) { absl::StrAppend(out, Print(i)); }),
      "]");
}

std::string ExprPrinter::Print(const Expr& e, int min_precedence) {
  auto it = lets_.find(e.get());
  return it != lets_.end() ? it->second : PrintNode(e, min_precedence);
}

std::string ExprPrinter::PrintNode(const Expr& e, int min_precedence) {
  const Type& type = e.type();
  const auto call = [&](absl::string_view name, const std::vector<Expr>& args) {
    return absl::StrCat(
        name, "(",
        absl::StrJoin(args, ", ",
                      [&](std::string* out, const Expr& a) { absl::StrAppend(out, Print(a)); }),
        ")");
  };
  const auto infix = [&](const auto& op, const Expr& a, const Expr& b) {
    if (op.precedence == kNoPrecedence) return call(op.text, {a, b});
    std::string text =
        Concat({Print(a, op.precedence), " ", op.text, " ", Print(b, op.precedence + 1)});
    return op.precedence < min_precedence ? absl::StrCat("(", text, ")") : text;
  };
  return std::visit(
      Overloaded{
          [&](const IntImm& n) { return IntToString(type, n.value); },
          [&](const FloatImm& n) { return FloatToString(type.dtype, n.value); },
          [&](const VarNode&) { return names_.Of(e); },
          [&](const Unary& n) {
            const UnaryWord& word = FindWord(kUnaryWords, n.op, type.dtype.is_bool());
            if (word.precedence == kNoPrecedence) return call(word.text, {n.a});
            // "-3" would read back as a constant, so the operand gets parentheses.
            const bool constant = n.a.As<IntImm>() != nullptr || n.a.As<FloatImm>() != nullptr;
            std::string text = constant ? absl::StrCat(word.text, "(", Print(n.a), ")")
                                        : absl::StrCat(word.text, Print(n.a, kPostfixPrecedence));
            return min_precedence > kPrefixPrecedence ? absl::StrCat("(", text, ")") : text;
          },
          [&](const Binary& n) {
            return infix(FindWord(kBinaryWords, n.op, type.dtype.is_bool()), n.a, n.b);
          },
          [&](const Fma& n) { return call("fma", {n.a, n.b, n.c}); },
          [&](const Dot& n) {
            const DotKind& kind = n.kind;
            const std::string name = kind.instruction.empty()
                                         ? ""
                                         : absl::StrCat(SymbolToString(kind.instruction), ", ");
            std::string order = kind.swaps ? ", swaps" : "";
            if (kind.steps > 1) absl::StrAppend(&order, ", steps ", kind.steps);
            if (kind.run != 0) absl::StrAppend(&order, ", run ", kind.run);
            if (kind.column_run != 0) absl::StrAppend(&order, ", column_run ", kind.column_run);
            if (kind.parts != 1) absl::StrAppend(&order, ", parts ", kind.parts);
            return call(absl::StrCat("dot<", name, kind.group, order, ">"), {n.sum, n.a, n.b});
          },
          [&](const Interleave& n) { return call("interleave", n.operands); },
          [&](const Compare& n) { return infix(FindWord(kCompareWords, n.op, false), n.a, n.b); },
          [&](const Select& n) { return call("select", {n.condition, n.if_true, n.if_false}); },
          [&](const Cast& n) { return call(type.ToString(), {n.a}); },
          [&](const Bitcast& n) {
            return call(absl::StrCat("bitcast<", type.ToString(), ">"), {n.a});
          },
          [&](const Load& n) { return Concat({names_.Of(n.buffer), PrintIndex(n.index)}); },
          [&](const Ramp& n) {
            return absl::StrCat("ramp(", Print(n.base), ", ", n.stride, ", ", n.lanes, ")");
          },
          [&](const Broadcast& n) {
            return absl::StrCat("broadcast(", Print(n.a), ", ", n.lanes, ")");
          }},
      e->value);
}

std::string Concat(std::initializer_list<std::string> parts) { return absl::StrJoin(parts, ""); }

std::string IntToString(const Type& type, int64_t value) {
  if (type.index) return absl::StrCat(value);
  if (type.dtype.is_bool()) return value != 0 ? "true" : "false";
  if (type.dtype.is_int()) return absl::StrCat(value, "i", type.dtype.bits);
  return absl::StrCat(static_cast<uint64_t>(value), "u", type.dtype.bits);
}

std::string FloatToString(DType dtype, double value) {
  const std::string suffix = absl::StrCat(dtype.is_bfloat() ? "bf" : "f", dtype.bits);
  if (std::isnan(value)) return absl::StrCat("nan_", suffix);
  if (std::isinf(value)) return absl::StrCat(value < 0 ? "-inf_" : "inf_", suffix);
  std::array<char, 40> text;
  // The shortest text that reads back as the same number.
  const std::to_chars_result end =
      dtype.bits == 64
          ? std::to_chars(text.data(), text.data() + text.size(), value)
          : std::to_chars(text.data(), text.data() + text.size(), static_cast<float>(value));
  return absl::StrCat(std::string(text.data(), end.ptr), suffix);
}

std::string BufferTypeToString(const BufferNode& buffer) {
  return absl::StrCat(buffer.dtype.ToString(), "[", absl::StrJoin(buffer.shape, ", "), "]");
}

std::string DeclarationToString(NameTable& names, const Buffer& buffer) {
  std::string text = absl::StrCat(names.Of(buffer), ": ", BufferTypeToString(*buffer));
  if (buffer->alignment_bytes != 0) absl::StrAppend(&text, " align ", buffer->alignment_bytes);
  return text;
}

std::string ToString(const Expr& e) {
  if (e.get() == nullptr) return "none";
  NameTable names;
  int let_count = 0;
  ExprPrinter printer(names, let_count);
  std::string text;
  for (const std::string& let : printer.Lets({e})) absl::StrAppend(&text, let, " in ");
  return text + printer.Print(e);
}

}  // namespace kiln::loop
