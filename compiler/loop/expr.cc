// SPDX-License-Identifier: Apache-2.0
// Nodes, constants and operators. The builders that fold are in fold.cc.
#include "compiler/loop/expr.h"

#include "absl/strings/str_cat.h"
#include "compiler/loop/check.h"
#include "compiler/loop/expr_node.h"

namespace kiln::loop {
namespace {

// Nodes whose last reference has gone while another node is being deleted on this thread. Deletion
// through this list instead of recursion keeps the stack flat, however deep the expression is.
thread_local std::vector<const ExprNode*>* dying_nodes = nullptr;

void DeleteNode(const ExprNode* node) {
  if (dying_nodes != nullptr) {
    dying_nodes->push_back(node);
    return;
  }
  std::vector<const ExprNode*> dying;
  dying_nodes = &dying;
  delete node;
  while (!dying.empty()) {
    const ExprNode* next = dying.back();
    dying.pop_back();
    delete next;
  }
  dying_nodes = nullptr;
}

Scalar CastScalar(Scalar value, DType from, DType to) {
  Scalar out;
  FindCastKernel(from, to)(1, &value, &out);
  return out;
}

}  // namespace

std::string Type::ToString() const {
  const std::string scalar = index ? "index" : dtype.ToString();
  return lanes == 1 ? scalar : absl::StrCat(scalar, "x", lanes);
}

Expr NewExpr(ExprNode node) {
  return Expr(std::shared_ptr<const ExprNode>(new ExprNode(std::move(node)), DeleteNode));
}

Expr::Expr(int value) : Expr(IntConst(Type::Index(), value)) {}
Expr::Expr(int64_t value) : Expr(IntConst(Type::Index(), value)) {}

Buffer MakeBuffer(std::string name, DType dtype, Shape shape, BufferScope scope,
                  int alignment_bytes) {
  return std::make_shared<const BufferNode>(
      BufferNode{std::move(name), dtype, std::move(shape), scope, alignment_bytes});
}

Buffer MakeSlice(std::string name, Shape shape, Buffer whole, int64_t first, Shape strides) {
  KILN_CHECK(strides.size() == shape.size() && whole->whole == nullptr,
             absl::StrCat(name, ", a slice of ", whole->name, " with ", shape.size(),
                          " dimensions and ", strides.size(), " strides"));
  BufferNode slice{std::move(name), whole->dtype, std::move(shape), whole->scope};
  slice.whole = std::move(whole);
  slice.first = first;
  slice.slice_strides = std::move(strides);
  return std::make_shared<const BufferNode>(std::move(slice));
}

Var MakeVar(std::string name, Type type) { return NewExpr(type, VarNode{std::move(name)}); }

bool AsScalar(const Expr& e, Scalar* value) {
  if (const IntImm* imm = e.As<IntImm>()) {
    value->i = imm->value;
    return true;
  }
  if (const FloatImm* imm = e.As<FloatImm>()) {
    *value = Scalar{.d = imm->value};
    const DType dtype = e.type().dtype;
    if (dtype.bits < 64) *value = CastScalar(*value, DType::Float(64), DType::Float(32));
    if (dtype.bits < 32) *value = CastScalar(*value, DType::Float(32), dtype);
    return true;
  }
  return false;
}

Expr FromScalar(Type type, Scalar value) {
  const Type scalar_type = type.WithLanes(1);
  if (!type.dtype.is_float()) {
    return WithLanes(NewExpr(scalar_type, IntImm{value.i}), type.lanes);
  }
  if (type.dtype.bits < 32) value = CastScalar(value, type.dtype, DType::Float(32));
  if (type.dtype.bits < 64) value = CastScalar(value, DType::Float(32), DType::Float(64));
  return WithLanes(NewExpr(scalar_type, FloatImm{value.d}), type.lanes);
}

bool IsConstant(const Expr& e) {
  if (const Broadcast* broadcast = e.As<Broadcast>()) return IsConstant(broadcast->a);
  return e.As<IntImm>() != nullptr || e.As<FloatImm>() != nullptr;
}

Expr WithLanes(Expr e, int lanes) {
  return e.type().lanes == lanes ? e : MakeBroadcast(std::move(e), lanes);
}

Expr IntConst(Type type, int64_t value) {
  KILN_CHECK(!type.dtype.is_float(), "an integer constant of type " + type.ToString());
  return FromScalar(type, CastScalar(Scalar{.i = value}, DType::Int(64), type.dtype));
}

Expr FloatConst(Type type, double value) {
  KILN_CHECK(type.dtype.is_float(), "a float constant of type " + type.ToString());
  return Const(type, value);
}

Expr Const(DType dtype, double value) { return Const(Type::Of(dtype), value); }

Expr Const(Type type, double value) {
  Scalar scalar{.d = value};
  DType from = DType::Float(64);
  if (type.dtype.is_float() && type.dtype.bits == 16) {
    scalar = CastScalar(scalar, from, DType::Float(32));
    from = DType::Float(32);
  }
  return FromScalar(type, CastScalar(scalar, from, type.dtype));
}

bool AsInt(const Expr& e, int64_t* value) {
  if (const Broadcast* broadcast = e.As<Broadcast>()) return AsInt(broadcast->a, value);
  const IntImm* imm = e.As<IntImm>();
  if (imm == nullptr) return false;
  *value = imm->value;
  return true;
}

bool IsInt(const Expr& e, int64_t value) {
  int64_t constant;
  return AsInt(e, &constant) && constant == value;
}

Expr operator+(Expr a, Expr b) { return MakeBinary(BinaryOp::kAdd, std::move(a), std::move(b)); }
Expr operator-(Expr a, Expr b) { return MakeBinary(BinaryOp::kSub, std::move(a), std::move(b)); }
Expr operator*(Expr a, Expr b) { return MakeBinary(BinaryOp::kMul, std::move(a), std::move(b)); }
Expr operator/(Expr a, Expr b) { return MakeBinary(BinaryOp::kDiv, std::move(a), std::move(b)); }
Expr operator%(Expr a, Expr b) { return MakeBinary(BinaryOp::kMod, std::move(a), std::move(b)); }
Expr operator-(Expr a) { return MakeUnary(UnaryOp::kNeg, std::move(a)); }
Expr operator<(Expr a, Expr b) { return MakeCompare(CompareOp::kLt, std::move(a), std::move(b)); }
Expr operator<=(Expr a, Expr b) { return MakeCompare(CompareOp::kLe, std::move(a), std::move(b)); }
Expr operator>(Expr a, Expr b) { return MakeCompare(CompareOp::kGt, std::move(a), std::move(b)); }
Expr operator>=(Expr a, Expr b) { return MakeCompare(CompareOp::kGe, std::move(a), std::move(b)); }
Expr operator==(Expr a, Expr b) { return MakeCompare(CompareOp::kEq, std::move(a), std::move(b)); }
Expr operator!=(Expr a, Expr b) { return MakeCompare(CompareOp::kNe, std::move(a), std::move(b)); }
Expr Not(Expr a) { return MakeUnary(UnaryOp::kNot, std::move(a)); }
Expr RoundingMulHigh(Expr a, Expr b) {
  return MakeBinary(BinaryOp::kRoundingMulHigh, std::move(a), std::move(b));
}
Expr RoundingMulTop(Expr a, Expr b) {
  return MakeBinary(BinaryOp::kRoundingMulTop, std::move(a), std::move(b));
}
Expr RoundingShr(Expr a, Expr b) {
  return MakeBinary(BinaryOp::kRoundingShr, std::move(a), std::move(b));
}
Expr Min(Expr a, Expr b) { return MakeBinary(BinaryOp::kMin, std::move(a), std::move(b)); }
Expr Max(Expr a, Expr b) { return MakeBinary(BinaryOp::kMax, std::move(a), std::move(b)); }

}  // namespace kiln::loop
