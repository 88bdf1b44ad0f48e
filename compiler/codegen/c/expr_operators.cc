// SPDX-License-Identifier: Apache-2.0
// The operators of ExprPrinter: C's own operator if it has the same meaning, otherwise the shortest
// equivalent expression.
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/codegen/c/expr_printer.h"
#include "compiler/codegen/c/literals.h"
#include "compiler/codegen/c/value_range.h"

namespace kiln::codegen {
namespace {

using loop::BinaryOp;
using loop::CompareOp;
using loop::Expr;
using loop::UnaryOp;

const char* Symbol(BinaryOp op) {
  switch (op) {
    case BinaryOp::kAdd:
      return " + ";
    case BinaryOp::kSub:
      return " - ";
    case BinaryOp::kMul:
      return " * ";
    case BinaryOp::kDiv:
      return " / ";
    case BinaryOp::kMod:
      return " % ";
    case BinaryOp::kAnd:
      return " & ";
    case BinaryOp::kOr:
      return " | ";
    case BinaryOp::kXor:
      return " ^ ";
    default:
      return "";
  }
}

const char* Symbol(CompareOp op) {
  switch (op) {
    case CompareOp::kEq:
      return " == ";
    case CompareOp::kNe:
      return " != ";
    case CompareOp::kLt:
      return " < ";
    case CompareOp::kLe:
      return " <= ";
    case CompareOp::kGt:
      return " > ";
    default:
      return " >= ";
  }
}

// Returns the result of the comparison if it is the same for all values in the ranges.
std::optional<bool> Decide(CompareOp op, ValueRange a, ValueRange b) {
  const bool less = a.max<b.min, greater = a.min> b.max;
  const bool less_equal = a.max <= b.min, greater_equal = a.min >= b.max;
  switch (op) {
    case CompareOp::kEq:
      return less || greater ? std::optional<bool>(false) : std::nullopt;
    case CompareOp::kNe:
      return less || greater ? std::optional<bool>(true) : std::nullopt;
    case CompareOp::kLt:
      return less            ? std::optional<bool>(true)
             : greater_equal ? std::optional<bool>(false)
                             : std::nullopt;
    case CompareOp::kLe:
      return less_equal ? std::optional<bool>(true)
             : greater  ? std::optional<bool>(false)
                        : std::nullopt;
    case CompareOp::kGt:
      return greater      ? std::optional<bool>(true)
             : less_equal ? std::optional<bool>(false)
                          : std::nullopt;
    case CompareOp::kGe:
      return greater_equal ? std::optional<bool>(true)
             : less        ? std::optional<bool>(false)
                           : std::nullopt;
  }
  return std::nullopt;
}

std::string Unsigned(int bits) { return bits == 64 ? "uint64_t" : "uint32_t"; }

}  // namespace

std::string ExprPrinter::Infix(const Expr& a, const char* op, const Expr& b, Precedence left,
                               Precedence right) {
  const std::string text = Print(a, left);
  return absl::StrCat(text, op, Print(b, right));
}

ExprPrinter::Text ExprPrinter::Narrow(Text text, DType dtype) {
  return dtype.is_bool() || dtype.is_float() || dtype.bits >= 32
             ? text
             : Cast(CType(dtype), std::move(text));
}

ExprPrinter::Text ExprPrinter::MakeUnary(const loop::Unary& node, DType dtype) {
  if (const std::optional<DType> to = loop::SaturationOf(node.op)) return MakeSaturation(node, *to);
  switch (node.op) {
    case UnaryOp::kNeg: {
      const std::string a = Print(node.a, kPrefix);
      if (dtype.is_float())
        return {absl::StartsWith(a, "-") ? absl::StrCat("-(", a, ")") : absl::StrCat("-", a),
                kPrefix};
      if (dtype.is_uint() && dtype.bits >= 32) return {absl::StrCat("0u - ", a), kAdditive};
      return Cast(CType(dtype), {absl::StrCat("0u - (", Unsigned(dtype.bits), ")", a), kAdditive});
    }
    case UnaryOp::kNot:
      if (dtype.is_bool()) return {absl::StrCat("!", Print(node.a, kPrefix)), kPrefix};
      return Narrow({absl::StrCat("~", Print(node.a, kPrefix)), kPrefix}, dtype);
    case UnaryOp::kAbs:
      if (dtype.is_uint()) return Visit(node.a);
      break;
    default:
      break;
  }
  if (!dtype.is_float() && node.op != UnaryOp::kAbs)
    return Fail("rounding or square root of an integer");
  const std::string operand = Print(node.a);
  return {absl::StrCat(context_.helpers.Unary(node.op, dtype), "(", operand, ")"), kPrimary};
}

// The instruction shifts before it saturates, so a constant right shift becomes part of the helper.
ExprPrinter::Text ExprPrinter::MakeSaturation(const loop::Unary& node, DType to) {
  const auto* shr = node.a.As<loop::Binary>();
  int64_t shift = 0;
  const bool shifts = shr != nullptr && shr->op == BinaryOp::kShr && loop::AsInt(shr->b, &shift) &&
                      shift > 0 && shift < 32;
  const std::string helper = context_.helpers.Saturate(to, shifts ? static_cast<int>(shift) : 0);
  return {absl::StrCat(helper, "(", Print(shifts ? shr->a : node.a), ")"), kPrimary};
}

ExprPrinter::Text ExprPrinter::MakeBinary(const loop::Binary& node, DType dtype) {
  switch (node.op) {
    case BinaryOp::kAdd:
    case BinaryOp::kSub:
    case BinaryOp::kMul:
      return MakeArithmetic(node, dtype);
    case BinaryOp::kMin:
    case BinaryOp::kMax:
    case BinaryOp::kRoundingMulHigh:
    case BinaryOp::kRoundingMulTop:
    case BinaryOp::kRoundingShr: {
      const std::string a = Print(node.a), b = Print(node.b);
      return {absl::StrCat(context_.helpers.Binary(node.op, dtype), "(", a, ", ", b, ")"),
              kPrimary};
    }
    case BinaryOp::kAnd:
    case BinaryOp::kOr:
    case BinaryOp::kXor:
      return MakeBits(node, dtype);
    case BinaryOp::kShl:
    case BinaryOp::kShr:
      return MakeShift(node, dtype);
    default:
      break;
  }
  if (dtype.is_float()) {
    if (node.op == BinaryOp::kMod) return Fail("a remainder of floats");
    return {Infix(node.a, " / ", node.b, kMultiplicative, kPrefix), kMultiplicative};
  }
  // C's division has the same result if it is defined, which a constant divisor other than 0 and -1
  // guarantees.
  const auto* divisor = node.b.As<loop::IntImm>();
  if (divisor != nullptr && divisor->value != 0 && (divisor->value != -1 || dtype.is_uint())) {
    return Narrow(
        {Infix(node.a, Symbol(node.op), node.b, kMultiplicative, kPrefix), kMultiplicative}, dtype);
  }
  const std::string a = Print(node.a), b = Print(node.b);
  return {absl::StrCat(context_.helpers.Binary(node.op, dtype), "(", a, ", ", b, ")"), kPrimary};
}

ExprPrinter::Text ExprPrinter::MakeArithmetic(const loop::Binary& node, DType dtype) {
  const bool product = node.op == BinaryOp::kMul;
  const Precedence left = product ? kMultiplicative : kAdditive;
  const Precedence right = product ? kPrefix : kMultiplicative;
  const char* symbol = Symbol(node.op);
  bool plain = dtype.is_float() || node.a.type().index || (dtype.is_uint() && dtype.bits >= 32);
  // int has at least 32 bits, so all results for types of 8 and 16 bits fit, except products of
  // uint16.
  if (dtype.bits < 32 && !(product && dtype.is_uint() && dtype.bits == 16)) plain = true;
  if (!plain) {
    const auto a = RangeOf(node.a), b = RangeOf(node.b);
    const auto result = a && b ? RangeOf(node.op, *a, *b) : std::nullopt;
    const auto whole = dtype.bits == 64
                           ? std::optional<ValueRange>({-(int64_t{1} << 62), int64_t{1} << 62})
                           : RangeOf(dtype);
    plain = result && result->min >= whole->min && result->max <= whole->max && dtype.is_int();
  }
  if (plain) return Narrow({Infix(node.a, symbol, node.b, left, right), left}, dtype);
  const std::string type = absl::StrCat("(", Unsigned(dtype.bits), ")");
  const std::string a = Print(node.a, kPrefix);
  const std::string b = Print(node.b, kPrefix);
  return Cast(CType(dtype), {absl::StrCat(type, a, symbol, type, b), left});
}

ExprPrinter::Text ExprPrinter::MakeBits(const loop::Binary& node, DType dtype) {
  if (dtype.is_float()) return Fail("a bit operation on floats");
  if (!dtype.is_bool())
    return Narrow({Infix(node.a, Symbol(node.op), node.b, kPrefix, kPrefix), kBitwise}, dtype);
  if (node.op == BinaryOp::kXor)
    return {Infix(node.a, " != ", node.b, kAdditive, kAdditive), kEquality};
  const char* symbol = node.op == BinaryOp::kAnd ? " && " : " || ";
  return {Infix(node.a, symbol, node.b, kEquality, kEquality), kLogical};
}

ExprPrinter::Text ExprPrinter::MakeShift(const loop::Binary& node, DType dtype) {
  if (!dtype.is_integral()) return Fail("a shift of what is no integer");
  std::string a = Print(node.a, kPrefix);
  // The type of a literal is C's choice, which may be narrower.
  if (dtype.bits == 64 && node.a.As<loop::IntImm>() != nullptr)
    a = absl::StrCat("(", CType(dtype), ")", a);
  std::string amount;
  if (const auto* constant = node.b.As<loop::IntImm>()) {
    amount = absl::StrCat(static_cast<uint64_t>(constant->value) &
                          static_cast<uint64_t>(dtype.bits - 1));
  } else {
    amount = absl::StrCat("(", Print(node.b, kPrefix), " & ", dtype.bits - 1,
                          dtype.is_uint() ? "u" : "", ")");
  }
  if (node.op == BinaryOp::kShr) return Narrow({absl::StrCat(a, " >> ", amount), kShift}, dtype);
  if (dtype.is_uint() && dtype.bits >= 32) return {absl::StrCat(a, " << ", amount), kShift};
  return Cast(CType(dtype),
              {absl::StrCat("(", Unsigned(dtype.bits), ")", a, " << ", amount), kShift});
}

ExprPrinter::Text ExprPrinter::MakeCompare(const loop::Compare& node) {
  const DType dtype = context_.DTypeOf(node.a.type());
  const bool equality = node.op == CompareOp::kEq || node.op == CompareOp::kNe;
  if (!dtype.is_float()) {
    // Compilers warn about comparisons that are always true or always false.
    const auto a = RangeOf(node.a), b = RangeOf(node.b);
    if (a && b) {
      if (const auto decided = Decide(node.op, *a, *b)) return {*decided ? "1" : "0", kPrimary};
    }
    const auto* zero = node.b.As<loop::IntImm>();
    if (dtype == DType::UInt(64) && zero != nullptr && zero->value == 0 &&
        (node.op == CompareOp::kLt || node.op == CompareOp::kGe)) {
      return {node.op == CompareOp::kGe ? "1" : "0", kPrimary};
    }
    if (node.a.get() == node.b.get()) {
      const bool reflexive =
          node.op == CompareOp::kEq || node.op == CompareOp::kLe || node.op == CompareOp::kGe;
      return {reflexive ? "1" : "0", kPrimary};
    }
  }
  std::string a = Print(node.a, kAdditive);
  const std::string b = Print(node.b, kAdditive);
  // Compilers warn about comparisons of two equal expressions.
  if (a == b && !dtype.is_float() && temporaries_.find(node.a.get()) == temporaries_.end())
    a = Temporary(node.a, a).text;
  return {absl::StrCat(a, Symbol(node.op), b), equality ? kEquality : kRelational};
}

}  // namespace kiln::codegen
