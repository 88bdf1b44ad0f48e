// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/print_expr.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/loop/expr_node.h"

namespace kiln::loop {
namespace {

// Depth from which a sub-expression gets a name of its own; bounds the recursion of the printer.
constexpr int kMaxPrintedDepth = 64;

constexpr int kPostfixPrecedence = 12;
constexpr int kPrefixPrecedence = 11;

struct Infix {
  const char* text;
  int precedence;  // C's; 0: printed as a function
};

Infix InfixOf(BinaryOp op, bool is_bool) {
  switch (op) {
    case BinaryOp::kAdd:
      return {"+", 9};
    case BinaryOp::kSub:
      return {"-", 9};
    case BinaryOp::kMul:
      return {"*", 10};
    case BinaryOp::kDiv:
      return {"/", 10};
    case BinaryOp::kMod:
      return {"%", 10};
    case BinaryOp::kMin:
      return {"min", 0};
    case BinaryOp::kMax:
      return {"max", 0};
    case BinaryOp::kAnd:
      return is_bool ? Infix{"&&", 2} : Infix{"&", 5};
    case BinaryOp::kOr:
      return is_bool ? Infix{"||", 1} : Infix{"|", 3};
    case BinaryOp::kXor:
      return {"^", 4};
    case BinaryOp::kShl:
      return {"<<", 8};
    case BinaryOp::kShr:
      return {">>", 8};
    case BinaryOp::kRoundingMulHigh:
      return {"rounding_mul_high", 0};
    case BinaryOp::kRoundingShr:
      return {"rounding_shr", 0};
  }
  return {"?", 0};
}

Infix InfixOf(CompareOp op) {
  switch (op) {
    case CompareOp::kEq:
      return {"==", 6};
    case CompareOp::kNe:
      return {"!=", 6};
    case CompareOp::kLt:
      return {"<", 7};
    case CompareOp::kLe:
      return {"<=", 7};
    case CompareOp::kGt:
      return {">", 7};
    case CompareOp::kGe:
      return {">=", 7};
  }
  return {"?", 0};
}

const char* FunctionName(UnaryOp op) {
  switch (op) {
    case UnaryOp::kAbs:
      return "abs";
    case UnaryOp::kSqrt:
      return "sqrt";
    case UnaryOp::kFloor:
      return "floor";
    case UnaryOp::kCeil:
      return "ceil";
    case UnaryOp::kTrunc:
      return "trunc";
    case UnaryOp::kRoundEven:
      return "round_even";
    case UnaryOp::kNeg:
    case UnaryOp::kNot:
      break;
  }
  return nullptr;
}

std::string IntToString(const Type& type, int64_t value) {
  if (type.index) return absl::StrCat(value);
  if (type.dtype.is_bool()) return value != 0 ? "true" : "false";
  if (type.dtype.is_int()) return absl::StrCat(value, "i", type.dtype.bits);
  return absl::StrCat(static_cast<uint64_t>(value), "u", type.dtype.bits);
}

std::string FloatToString(DType dtype, double value) {
  if (std::isnan(value)) return absl::StrCat("nan_f", dtype.bits);
  if (std::isinf(value)) return absl::StrCat(value < 0 ? "-inf_f" : "inf_f", dtype.bits);
  std::array<char, 40> text;
  // The shortest text that reads back as the same number.
  const std::to_chars_result end =
      dtype.bits == 64
          ? std::to_chars(text.data(), text.data() + text.size(), value)
          : std::to_chars(text.data(), text.data() + text.size(), static_cast<float>(value));
  return absl::StrCat(std::string(text.data(), end.ptr), "f", dtype.bits);
}

// Too short for a name of its own.
bool IsLeaf(const Expr& e) {
  if (const Broadcast* broadcast = e.As<Broadcast>()) return IsLeaf(broadcast->a);
  if (const Ramp* ramp = e.As<Ramp>()) return IsLeaf(ramp->base);
  return e.As<VarNode>() != nullptr || IsConstant(e);
}

}  // namespace

std::string NameTable::Fresh(const std::string& wanted) {
  if (taken_.insert(wanted).second) return wanted;
  int& suffix = next_suffix_[wanted];
  for (;;) {
    std::string name = absl::StrCat(wanted, "_", ++suffix);
    if (taken_.insert(name).second) return name;
  }
}

const std::string& NameTable::Of(const void* object, const std::string& wanted) {
  auto it = names_.find(object);
  if (it == names_.end()) it = names_.emplace(object, Fresh(wanted)).first;
  return it->second;
}

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
  const auto infix = [&](Infix op, const Expr& a, const Expr& b) {
    if (op.precedence == 0) return call(op.text, {a, b});
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
            if (const char* name = FunctionName(n.op)) return call(name, {n.a});
            const char* sign = n.op == UnaryOp::kNeg ? "-" : type.dtype.is_bool() ? "!" : "~";
            std::string text = absl::StrCat(sign, Print(n.a, kPostfixPrecedence));
            return min_precedence > kPrefixPrecedence ? absl::StrCat("(", text, ")") : text;
          },
          [&](const Binary& n) { return infix(InfixOf(n.op, type.dtype.is_bool()), n.a, n.b); },
          [&](const Fma& n) { return call("fma", {n.a, n.b, n.c}); },
          [&](const Dot& n) {
            const std::string name = n.instruction.empty() ? "" : n.instruction + ", ";
            return call(absl::StrCat("dot<", name, n.group, ">"), {n.sum, n.a, n.b});
          },
          [&](const Compare& n) { return infix(InfixOf(n.op), n.a, n.b); },
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

std::string BufferTypeToString(const BufferNode& buffer) {
  return absl::StrCat(buffer.dtype.ToString(), "[", absl::StrJoin(buffer.shape, ", "), "]");
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
