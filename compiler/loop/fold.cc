// SPDX-License-Identifier: Apache-2.0
// The builders of operations. They bring operands to one type, fold constants with the kernels of
// scalar.h, and apply identities that keep every bit.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "compiler/loop/check.h"
#include "compiler/loop/expr.h"
#include "compiler/loop/expr_node.h"
#include "compiler/loop/scalar.h"

namespace kiln::loop {
namespace {

bool IsIndexConstant(const Expr& e) { return e.type().index && IsConstant(e); }

// Converts the index constant `e` to the dtype of `type`.
Expr ConvertIndexConstant(const Expr& e, const Type& type) {
  Scalar value, out;
  AsInt(e, &value.i);
  UnaryKernel cast = FindCastKernel(DType::Int(64), type.dtype);
  KILN_CHECK(cast != nullptr, "an index constant beside a value of type " + type.ToString());
  cast(1, &value, &out);
  return FromScalar(type.WithLanes(e.type().lanes), out);
}

void MatchTypes(Expr& a, Expr& b) {
  KILN_CHECK(a.get() != nullptr && b.get() != nullptr, "an operand is missing");
  if (a.type().index != b.type().index) {
    if (IsIndexConstant(a)) a = ConvertIndexConstant(a, b.type());
    if (IsIndexConstant(b)) b = ConvertIndexConstant(b, a.type());
  }
  if (a.type().lanes != b.type().lanes) {
    if (a.type().lanes == 1) a = MakeBroadcast(a, b.type().lanes);
    if (b.type().lanes == 1) b = MakeBroadcast(b, a.type().lanes);
  }
  KILN_CHECK(a.type() == b.type(),
             absl::StrCat("operands of types ", a.type().ToString(), " and ", b.type().ToString(),
                          ": ", ToString(a), " and ", ToString(b)));
}

Type BoolLike(const Type& type) { return Type::Of(DType::Bool(), type.lanes); }

// Returns the operand of a broadcast, or null.
const Expr* BroadcastOf(const Expr& e) {
  const Broadcast* broadcast = e.As<Broadcast>();
  return broadcast == nullptr ? nullptr : &broadcast->a;
}

// True if `e` is the float constant `value`, with the same sign if it is zero.
bool IsFloat(const Expr& e, double value) {
  if (const Expr* scalar = BroadcastOf(e)) return IsFloat(*scalar, value);
  const FloatImm* imm = e.As<FloatImm>();
  return imm != nullptr && imm->value == value && std::signbit(imm->value) == std::signbit(value);
}

// x + (-0), x - (+0), x * 1, x / 1 keep every bit; x + (+0) does not, as it makes +0 of -0.
Expr FloatIdentity(BinaryOp op, const Expr& a, const Expr& b) {
  if (op == BinaryOp::kAdd && IsFloat(b, -0.0)) return a;
  if (op == BinaryOp::kAdd && IsFloat(a, -0.0)) return b;
  if (op == BinaryOp::kSub && IsFloat(b, 0.0)) return a;
  if (op == BinaryOp::kMul && IsFloat(b, 1.0)) return a;
  if (op == BinaryOp::kMul && IsFloat(a, 1.0)) return b;
  if (op == BinaryOp::kDiv && IsFloat(b, 1.0)) return a;
  return {};
}

// Identities of integers and bools whose right operand is a constant.
Expr RightConstantIdentity(BinaryOp op, const Expr& a, const Expr& b, int64_t constant) {
  const DType dtype = a.type().dtype;
  const bool all_ones =
      dtype.is_uint() ? constant == dtype.MaxInt() : constant == (dtype.is_bool() ? 1 : -1);
  if (constant == 0) {
    switch (op) {
      case BinaryOp::kAdd:
      case BinaryOp::kSub:
      case BinaryOp::kOr:
      case BinaryOp::kXor:
      case BinaryOp::kShl:
      case BinaryOp::kShr:
      case BinaryOp::kRoundingShr:
        return a;
      case BinaryOp::kMul:
      case BinaryOp::kDiv:
      case BinaryOp::kMod:
      case BinaryOp::kAnd:
        return b;
      default:
        break;
    }
  }
  if (constant == 1 && (op == BinaryOp::kMul || op == BinaryOp::kDiv)) return a;
  if (constant == 1 && op == BinaryOp::kMod) return IntConst(a.type(), 0);
  if (all_ones && op == BinaryOp::kAnd) return a;
  if (all_ones && op == BinaryOp::kOr) return b;
  // (x + c) + d is x + (c + d). The same holds for products.
  const Binary* inner = a.As<Binary>();
  if (inner != nullptr && inner->op == op && IsConstant(inner->b) &&
      (op == BinaryOp::kAdd || op == BinaryOp::kMul)) {
    return MakeBinary(op, inner->a, MakeBinary(op, inner->b, b));
  }
  return {};
}

bool IsCommutative(BinaryOp op) {
  return op == BinaryOp::kAdd || op == BinaryOp::kMul || op == BinaryOp::kMin ||
         op == BinaryOp::kMax || op == BinaryOp::kAnd || op == BinaryOp::kOr ||
         op == BinaryOp::kXor;
}

Expr IntegerIdentity(BinaryOp op, const Expr& a, const Expr& b) {
  int64_t constant;
  if (AsInt(b, &constant)) return RightConstantIdentity(op, a, b, constant);
  if (AsInt(a, &constant)) {
    if (IsCommutative(op)) return MakeBinary(op, b, a);
    if (constant == 0 && op != BinaryOp::kSub) return a;  // 0 / x, 0 % x, 0 << x, 0 >> x
  }
  if (a.get() != b.get()) return {};
  if (op == BinaryOp::kSub || op == BinaryOp::kXor) return IntConst(a.type(), 0);
  if (op == BinaryOp::kAnd || op == BinaryOp::kOr) return a;
  return {};
}

// Sums and differences of index ramps and broadcasts are ramps, and so are products of a ramp and a
// constant.
Expr RampIdentity(BinaryOp op, const Expr& a, const Expr& b) {
  const Ramp* left = a.As<Ramp>();
  const Ramp* right = b.As<Ramp>();
  const Expr* left_scalar = BroadcastOf(a);
  const Expr* right_scalar = BroadcastOf(b);
  const int lanes = a.type().lanes;
  if (op == BinaryOp::kAdd || op == BinaryOp::kSub) {
    const int64_t sign = op == BinaryOp::kAdd ? 1 : -1;
    if (left != nullptr && right != nullptr) {
      return MakeRamp(MakeBinary(op, left->base, right->base), left->stride + sign * right->stride,
                      lanes);
    }
    if (left != nullptr && right_scalar != nullptr) {
      return MakeRamp(MakeBinary(op, left->base, *right_scalar), left->stride, lanes);
    }
    if (left_scalar != nullptr && right != nullptr) {
      return MakeRamp(MakeBinary(op, *left_scalar, right->base), sign * right->stride, lanes);
    }
  }
  int64_t factor;
  if (op == BinaryOp::kMul && left != nullptr && AsInt(b, &factor)) {
    return MakeRamp(left->base * *right_scalar, left->stride * factor, lanes);
  }
  if (op == BinaryOp::kMul && right != nullptr && AsInt(a, &factor)) {
    return MakeRamp(*left_scalar * right->base, right->stride * factor, lanes);
  }
  return {};
}

// Replaces the comparison of a bool with a constant. Returns an empty expression if neither operand
// is constant.
Expr CompareWithBool(CompareOp op, const Expr& a, const Expr& b) {
  if (op == CompareOp::kGt) return CompareWithBool(CompareOp::kLt, b, a);
  if (op == CompareOp::kGe) return CompareWithBool(CompareOp::kLe, b, a);
  int64_t constant = 0;
  const bool is_left = AsInt(a, &constant);
  if (!is_left && !AsInt(b, &constant)) return {};
  const Expr& x = is_left ? b : a;
  const bool is_true = constant != 0;
  switch (op) {
    case CompareOp::kEq:
      return is_true ? x : Not(x);
    case CompareOp::kNe:
      return is_true ? Not(x) : x;
    case CompareOp::kLt:
      if (is_left == is_true) return IntConst(x.type(), 0);
      return is_left ? x : Not(x);
    default:
      if (is_left != is_true) return IntConst(x.type(), 1);
      return is_left ? x : Not(x);
  }
}

}  // namespace

Expr MakeUnary(UnaryOp op, Expr a) {
  KILN_CHECK(a.get() != nullptr, "the operand is missing");
  const Type type = a.type();
  UnaryKernel kernel = FindUnaryKernel(op, type.dtype);
  const bool rounds = op == UnaryOp::kFloor || op == UnaryOp::kCeil || op == UnaryOp::kTrunc ||
                      op == UnaryOp::kRoundEven;
  if (type.dtype.is_integral() && rounds) return a;
  if (type.dtype.is_uint() && op == UnaryOp::kAbs) return a;
  KILN_CHECK(kernel != nullptr, absl::StrCat("no such operation on ", type.ToString()));
  Scalar value, out;
  if (AsScalar(a, &value)) {
    kernel(1, &value, &out);
    return FromScalar(type, out);
  }
  if (const Expr* scalar = BroadcastOf(a)) return MakeBroadcast(MakeUnary(op, *scalar), type.lanes);
  if (const Unary* inner = a.As<Unary>();
      inner != nullptr && inner->op == op && (op == UnaryOp::kNeg || op == UnaryOp::kNot)) {
    return inner->a;
  }
  return NewExpr(type, Unary{op, std::move(a)});
}

Expr MakeBinary(BinaryOp op, Expr a, Expr b) {
  MatchTypes(a, b);
  const Type type = a.type();
  BinaryKernel kernel = FindBinaryKernel(op, type.dtype);
  KILN_CHECK(kernel != nullptr, absl::StrCat("no such operation on ", type.ToString(), ": ",
                                             ToString(a), " and ", ToString(b)));
  Scalar x, y, out;
  if (AsScalar(a, &x) && AsScalar(b, &y)) {
    kernel(1, &x, &y, &out);
    return FromScalar(type, out);
  }
  const Expr* a_scalar = BroadcastOf(a);
  const Expr* b_scalar = BroadcastOf(b);
  if (a_scalar != nullptr && b_scalar != nullptr) {
    return MakeBroadcast(MakeBinary(op, *a_scalar, *b_scalar), type.lanes);
  }
  if (type.index && type.is_vector()) {
    if (Expr ramp = RampIdentity(op, a, b)) return ramp;
  }
  if (Expr same = type.dtype.is_float() ? FloatIdentity(op, a, b) : IntegerIdentity(op, a, b)) {
    return same;
  }
  if (a.get() == b.get() && (op == BinaryOp::kMin || op == BinaryOp::kMax)) return a;
  return NewExpr(type, Binary{op, std::move(a), std::move(b)});
}

Expr MakeFma(Expr a, Expr b, Expr c) {
  MatchTypes(a, b);
  MatchTypes(a, c);
  MatchTypes(a, b);
  const Type type = a.type();
  if (type.dtype.is_integral()) return a * b + c;  // wraps either way
  FmaKernel kernel = FindFmaKernel(type.dtype);
  KILN_CHECK(kernel != nullptr, absl::StrCat("fma on ", type.ToString()));
  Scalar x, y, z, out;
  if (AsScalar(a, &x) && AsScalar(b, &y) && AsScalar(c, &z)) {
    kernel(1, &x, &y, &z, &out);
    return FromScalar(type, out);
  }
  if (BroadcastOf(a) != nullptr && BroadcastOf(b) != nullptr && BroadcastOf(c) != nullptr) {
    return MakeBroadcast(MakeFma(*BroadcastOf(a), *BroadcastOf(b), *BroadcastOf(c)), type.lanes);
  }
  return NewExpr(type, Fma{std::move(a), std::move(b), std::move(c)});
}

std::optional<DotShape> DotShape::Of(int sum_lanes, int a_lanes, int b_lanes, const DotKind& kind) {
  const int group = kind.group, run = kind.run == 0 ? group : kind.run;
  const int column_run = kind.column_run == 0 ? group : kind.column_run;
  const bool in_parts = kind.parts == DotKind::kPartsOfFloat && kind.column_run > 0;
  if (kind.parts != 1 && !in_parts) return std::nullopt;
  if (group < 1 || kind.steps < 1 || run < 1 || group % run != 0 || column_run < 1 ||
      group % column_run != 0 || (kind.swaps && column_run != group)) {
    return std::nullopt;
  }
  const int64_t terms = kind.elements();
  if ((kind.swaps && group % 4 != 0) || a_lanes % terms != 0 || b_lanes % terms != 0) {
    return std::nullopt;
  }
  const int rows = static_cast<int>(a_lanes / terms), columns = static_cast<int>(b_lanes / terms);
  // With one row and one column both forms are the same.
  const bool crossed = int64_t{rows} * columns == sum_lanes;
  if (!crossed && (rows != sum_lanes || columns != sum_lanes)) return std::nullopt;
  return DotShape{.rows = rows,
                  .columns = columns,
                  .paired = !crossed,
                  .group = group,
                  .steps = kind.steps,
                  .run = run,
                  .column_run = column_run,
                  .parts = kind.parts,
                  .swaps = kind.swaps};
}

Expr MakeDot(DotKind kind, Expr sum, Expr a, Expr b) {
  KILN_CHECK(sum.get() != nullptr && a.get() != nullptr && b.get() != nullptr,
             "an operand of dot is missing");
  const Type type = sum.type();
  KILN_CHECK(DotShape::Of(type.lanes, a.type().lanes, b.type().lanes, kind).has_value(),
             absl::StrCat("dot in groups of ", kind.group, " of ", a.type().ToString(), " and ",
                          b.type().ToString(), " in ", type.ToString()));
  return NewExpr(type, Dot{std::move(kind), std::move(sum), std::move(a), std::move(b)});
}

Expr MakeInterleave(std::vector<Expr> operands) {
  KILN_CHECK(operands.size() > 1, absl::StrCat("interleave of ", operands.size(), " operands"));
  const Type type = operands[0].type();
  const int lanes = type.lanes * static_cast<int>(operands.size());
  Scalar first, other;
  bool uniform = AsScalar(operands[0], &first);
  for (const Expr& operand : operands) {
    KILN_CHECK(operand.type() == type,
               absl::StrCat("interleave of ", type.ToString(), " and ", operand.type().ToString()));
    uniform = uniform && AsScalar(operand, &other) && other.i == first.i;
  }
  if (uniform) return MakeBroadcast(std::move(operands[0]), lanes);
  return NewExpr(type.WithLanes(lanes), Interleave{std::move(operands)});
}

Expr MakeCompare(CompareOp op, Expr a, Expr b) {
  MatchTypes(a, b);
  BinaryKernel kernel = FindCompareKernel(op, a.type().dtype);
  KILN_CHECK(kernel != nullptr, absl::StrCat("comparison of ", a.type().ToString()));
  const Type type = BoolLike(a.type());
  Scalar x, y, out;
  if (AsScalar(a, &x) && AsScalar(b, &y)) {
    kernel(1, &x, &y, &out);
    return FromScalar(type, out);
  }
  if (BroadcastOf(a) != nullptr && BroadcastOf(b) != nullptr) {
    return MakeBroadcast(MakeCompare(op, *BroadcastOf(a), *BroadcastOf(b)), type.lanes);
  }
  if (type == a.type()) {
    if (Expr simple = CompareWithBool(op, a, b)) return simple;
  }
  if (a.get() == b.get() && !a.type().dtype.is_float()) {
    return IntConst(type, op == CompareOp::kEq || op == CompareOp::kLe || op == CompareOp::kGe);
  }
  return NewExpr(type, Compare{op, std::move(a), std::move(b)});
}

Expr MakeSelect(Expr condition, Expr if_true, Expr if_false) {
  MatchTypes(if_true, if_false);
  KILN_CHECK(condition && condition.type().dtype.is_bool(), "the condition of a select is no bool");
  if (condition.type().is_vector()) {
    if_true = WithLanes(if_true, condition.type().lanes);
    if_false = WithLanes(if_false, condition.type().lanes);
  }
  const Type type = if_true.type();
  int64_t value;
  if (AsInt(condition, &value)) return value != 0 ? if_true : if_false;
  if (if_true.get() == if_false.get()) return if_true;
  if (const Unary* negated = condition.As<Unary>()) {
    return MakeSelect(negated->a, std::move(if_false), std::move(if_true));
  }
  condition = WithLanes(condition, type.lanes);
  if (type.dtype.is_bool() && IsInt(if_true, 1) && IsInt(if_false, 0)) return condition;
  if (BroadcastOf(condition) != nullptr && BroadcastOf(if_true) != nullptr &&
      BroadcastOf(if_false) != nullptr) {
    return MakeBroadcast(
        MakeSelect(*BroadcastOf(condition), *BroadcastOf(if_true), *BroadcastOf(if_false)),
        type.lanes);
  }
  return NewExpr(type, Select{std::move(condition), std::move(if_true), std::move(if_false)});
}

}  // namespace kiln::loop
