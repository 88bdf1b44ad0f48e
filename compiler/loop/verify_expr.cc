// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/verify_expr.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "compiler/loop/expr_node.h"
#include "compiler/loop/scalar.h"

namespace kiln::loop {
namespace {

std::string Wrong(absl::string_view what, const Type& found, const Type& wanted) {
  return absl::StrCat(what, " has type ", found.ToString(), ", not ", wanted.ToString());
}

std::string CheckSame(absl::string_view what, const Expr& operand, const Type& wanted) {
  return operand.type() == wanted ? "" : Wrong(what, operand.type(), wanted);
}

std::string FirstError(std::string a, std::string b) { return a.empty() ? b : a; }

std::string CheckInt(const Type& type, int64_t value) {
  if (type.dtype.is_float()) return "an integer constant has type " + type.ToString();
  const Scalar wide{.i = value};
  Scalar narrow;
  FindCastKernel(DType::Int(64), type.dtype)(1, &wide, &narrow);
  return narrow.i == value ? "" : absl::StrCat(value, " does not fit ", type.ToString());
}

std::string CheckFloat(const Expr& e, double value) {
  const Type& type = e.type();
  if (!type.dtype.is_float()) return "a float constant has type " + type.ToString();
  const Expr rounded = Const(type.WithLanes(1), value);
  const bool exact = rounded.As<FloatImm>()->value == value || std::isnan(value);
  return exact ? "" : absl::StrCat(value, " is no ", type.ToString());
}

std::string CheckDot(const Dot& n, const Type& type) {
  const Type &a = n.a.type(), &b = n.b.type();
  const auto is_factor = [&](const Type& t) {
    return type.dtype.is_float() ? t.dtype.is_bfloat() : t.dtype.is_integral() && !t.index;
  };
  if (FindDotKernel(type.dtype) == nullptr || type.index || !is_factor(a) || !is_factor(b)) {
    return absl::StrCat("no dot of ", a.ToString(), " and ", b.ToString(), " in ", type.ToString());
  }
  if (DotShape::Of(type.lanes, a.lanes, b.lanes, n.kind).has_value()) return "";
  return absl::StrCat("dot in groups of ", n.kind.group, " of ", a.ToString(), " and ",
                      b.ToString(), " does not give ", type.ToString());
}

std::string CheckInterleave(const Interleave& n, const Type& type) {
  const size_t count = n.operands.size();
  if (count < 2)
    return absl::StrCat("found ", count, " operands of interleave, wanted two or more");
  const Type wanted = n.operands[0].type();
  if (wanted.index || type != wanted.WithLanes(wanted.lanes * static_cast<int>(count))) {
    return absl::StrCat("interleave of ", count, " operands of ", wanted.ToString(),
                        " does not give ", type.ToString());
  }
  for (const Expr& operand : n.operands) {
    const std::string error = CheckSame("an operand of interleave", operand, wanted);
    if (!error.empty()) return error;
  }
  return "";
}

std::string CheckLoad(const Load& n, const Type& type) {
  const BufferNode& buffer = *n.buffer;
  if (n.index.size() != 1 && n.index.size() != buffer.shape.size()) {
    return absl::StrCat(n.index.size(), " indices of ", buffer.name, ", which has ",
                        buffer.shape.size(), " dimensions");
  }
  for (const Expr& i : n.index) {
    if (i.type() != Type::Index(type.lanes)) {
      return Wrong("an index of " + buffer.name, i.type(), Type::Index(type.lanes));
    }
  }
  const Type wanted = Type::Of(buffer.dtype, type.lanes);
  return type == wanted ? "" : Wrong("a load from " + buffer.name, type, wanted);
}

}  // namespace

std::string FindTypeError(const Expr& e) {
  const Type& type = e.type();
  if (type.lanes < 1) return absl::StrCat("a value of ", type.lanes, " lanes");
  if (type.index && type.dtype != DType::Int(64)) return "an index that is no int64";
  const auto no_kernel = [](bool missing, const Type& t) {
    return missing ? "no such operation on " + t.ToString() : std::string();
  };
  return std::visit(
      Overloaded{
          [&](const IntImm& n) { return CheckInt(type, n.value); },
          [&](const FloatImm& n) { return CheckFloat(e, n.value); },
          [&](const VarNode&) { return std::string(); },
          [&](const Unary& n) {
            return FirstError(CheckSame("the operand", n.a, type),
                              no_kernel(FindUnaryKernel(n.op, type.dtype) == nullptr, type));
          },
          [&](const Binary& n) {
            return FirstError(FirstError(CheckSame("the left operand", n.a, type),
                                         CheckSame("the right operand", n.b, type)),
                              no_kernel(FindBinaryKernel(n.op, type.dtype) == nullptr, type));
          },
          [&](const Fma& n) {
            return FirstError(FirstError(CheckSame("the first operand", n.a, type),
                                         CheckSame("the second operand", n.b, type)),
                              FirstError(CheckSame("the third operand", n.c, type),
                                         no_kernel(FindFmaKernel(type.dtype) == nullptr, type)));
          },
          [&](const Dot& n) {
            return FirstError(CheckSame("the sum", n.sum, type), CheckDot(n, type));
          },
          [&](const Interleave& n) { return CheckInterleave(n, type); },
          [&](const Compare& n) {
            const Type wanted = Type::Of(DType::Bool(), n.a.type().lanes);
            if (type != wanted) return Wrong("a comparison", type, wanted);
            return FirstError(
                CheckSame("the right operand", n.b, n.a.type()),
                no_kernel(FindCompareKernel(n.op, n.a.type().dtype) == nullptr, n.a.type()));
          },
          [&](const Select& n) {
            return FirstError(
                CheckSame("the condition", n.condition, Type::Of(DType::Bool(), type.lanes)),
                FirstError(CheckSame("the first value", n.if_true, type),
                           CheckSame("the second value", n.if_false, type)));
          },
          [&](const Cast& n) {
            const Type& from = n.a.type();
            const bool bad =
                from.lanes != type.lanes || FindCastKernel(from.dtype, type.dtype) == nullptr;
            return bad ? "no cast from " + from.ToString() + " to " + type.ToString() : "";
          },
          [&](const Bitcast& n) {
            const Type& from = n.a.type();
            const bool bad = from.lanes != type.lanes || type.index ||
                             FindBitcastKernel(from.dtype, type.dtype) == nullptr;
            return bad ? "no bitcast from " + from.ToString() + " to " + type.ToString() : "";
          },
          [&](const Load& n) { return CheckLoad(n, type); },
          [&](const Ramp& n) {
            if (type != Type::Index(n.lanes)) return Wrong("a ramp", type, Type::Index(n.lanes));
            return CheckSame("the base of a ramp", n.base, Type::Index());
          },
          [&](const Broadcast& n) {
            if (type.lanes != n.lanes) return Wrong("a broadcast", type, type.WithLanes(n.lanes));
            return CheckSame("the operand of a broadcast", n.a, type.WithLanes(1));
          }},
      e->value);
}

}  // namespace kiln::loop
