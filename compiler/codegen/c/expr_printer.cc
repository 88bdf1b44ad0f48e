// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/c/expr_printer.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/codegen/c/codegen_c.h"
#include "compiler/codegen/c/dot_vector.h"
#include "compiler/codegen/c/helium.h"
#include "compiler/codegen/c/literals.h"
#include "compiler/target/instructions.h"

namespace kiln::codegen {
namespace {

using loop::Expr;
using loop::ExprNode;

// Longer operands become temporaries, so that lines stay readable.
constexpr size_t kMaxOperand = 88;
// Limit for a whole value.
constexpr size_t kMaxRoot = 110;

template <typename F>
void ForEachOperand(const ExprNode& node, F f) {
  std::visit(
      [&f](const auto& n) {
        using T = std::decay_t<decltype(n)>;
        if constexpr (std::is_same_v<T, loop::Unary> || std::is_same_v<T, loop::Cast> ||
                      std::is_same_v<T, loop::Bitcast> || std::is_same_v<T, loop::Broadcast>) {
          f(n.a);
        } else if constexpr (std::is_same_v<T, loop::Binary> || std::is_same_v<T, loop::Compare>) {
          f(n.a);
          f(n.b);
        } else if constexpr (std::is_same_v<T, loop::Fma>) {
          f(n.a);
          f(n.b);
          f(n.c);
        } else if constexpr (std::is_same_v<T, loop::Dot>) {
          f(n.sum);
          f(n.a);
          f(n.b);
        } else if constexpr (std::is_same_v<T, loop::Interleave>) {
          for (const Expr& operand : n.operands) f(operand);
        } else if constexpr (std::is_same_v<T, loop::Select>) {
          f(n.condition);
          f(n.if_true);
          f(n.if_false);
        } else if constexpr (std::is_same_v<T, loop::Load>) {
          for (const Expr& index : n.index) f(index);
        } else if constexpr (std::is_same_v<T, loop::Ramp>) {
          f(n.base);
        }
      },
      node.value);
}

// True for constants and variables, which need no temporary.
bool IsLeaf(const ExprNode& node) {
  return std::holds_alternative<loop::IntImm>(node.value) ||
         std::holds_alternative<loop::FloatImm>(node.value) ||
         std::holds_alternative<loop::VarNode>(node.value);
}

// True for casts that gcc 12 warns about as operands of unsigned arithmetic, as if they changed the
// sign. It does not warn about a variable with the same value.
bool NeedsName(const Expr& e) {
  const auto* cast = e.As<loop::Cast>();
  if (cast == nullptr || e.type().dtype != DType::UInt(32)) return false;
  const DType from = cast->a.type().dtype;
  return from.is_int() && from.bits < 32;
}

// True if the factor loads `group` neighboring elements of type `dtype`.
bool IsLoadOfGroup(const Expr& factor, DType dtype, int group) {
  const loop::Load* load = AsNeighbours(factor);
  return load != nullptr && load->buffer->dtype == dtype && factor.type().lanes == group;
}

}  // namespace

bool HasSpellingInC(const loop::Store& store) { return HeliumStoreOf(store).has_value(); }

bool HasSpellingInC(const loop::Dot& dot) {
  if (dot.sum.type().is_vector()) return AsDotVector(dot).has_value();
  const DotInstruction* row = FindDotInstruction(dot.kind.instruction);
  return row != nullptr && !row->c.body.empty() && row->group == dot.kind.group &&
         row->swaps == dot.kind.swaps && IsLoadOfGroup(dot.a, row->a, row->group) &&
         IsLoadOfGroup(dot.b, row->b, row->group);
}

void ExprPrinter::Count(const ExprNode* node) {
  if (++uses_[node] > 1) return;
  ForEachOperand(*node, [this](const Expr& operand) { Count(operand.get()); });
}

void ExprPrinter::Begin(absl::Span<const Expr* const> roots) {
  uses_.clear();
  temporaries_.clear();
  roots_.clear();
  for (const Expr* root : roots) {
    Count(root->get());
    roots_.insert(root->get());
  }
}

std::string ExprPrinter::Print(const Expr& e, Precedence at_least) {
  Text text = Visit(e);
  if (text.precedence >= at_least) return std::move(text.text);
  return absl::StrCat("(", text.text, ")");
}

ExprPrinter::Text ExprPrinter::Visit(const Expr& e) {
  if (auto it = temporaries_.find(e.get()); it != temporaries_.end()) return it->second;
  Text text = Make(e);
  if (IsLeaf(*e)) return text;
  auto uses = uses_.find(e.get());
  const bool shared = uses != uses_.end() && uses->second > 1;
  const size_t limit = roots_.contains(e.get()) ? kMaxRoot : kMaxOperand;
  if (!shared && text.text.size() <= limit && !NeedsName(e)) return text;
  return Temporary(e, text.text);
}

ExprPrinter::Text ExprPrinter::Temporary(const Expr& e, const std::string& text) {
  const std::string name = context_.names.AddLocal(absl::StrCat("t", next_temporary_++));
  const std::string type =
      e.type().is_vector() ? HeliumType(e.type()) : CType(context_.DTypeOf(e.type()));
  out_.Line(absl::StrCat("const ", type, " ", name, " = ", text, ";"));
  return temporaries_[e.get()] = Text{name, kPrimary};
}

ExprPrinter::Text ExprPrinter::Fail(const std::string& message) {
  if (status_.ok()) status_ = absl::InternalError(absl::StrCat("C code generator: ", message));
  return {"0", kPrimary};
}

ExprPrinter::Text ExprPrinter::Make(const Expr& e) {
  const loop::Type& type = e.type();
  if (type.is_vector()) return MakeVector(e);
  const DType dtype = context_.DTypeOf(type);
  if (const auto* n = e.As<loop::IntImm>()) return {IntLiteral(dtype, n->value), kPrimary};
  if (const auto* n = e.As<loop::FloatImm>()) return {FloatLiteral(dtype, n->value), kPrimary};
  if (const auto* n = e.As<loop::VarNode>()) {
    auto it = vars_.find(e.get());
    return it != vars_.end() ? Text{it->second, kPrimary}
                             : Fail(absl::StrCat("variable ", n->name, " is not in scope"));
  }
  if (const auto* n = e.As<loop::Unary>()) return MakeUnary(*n, dtype);
  if (const auto* n = e.As<loop::Binary>()) return MakeBinary(*n, dtype);
  if (const auto* n = e.As<loop::Compare>()) return MakeCompare(*n);
  if (const auto* n = e.As<loop::Cast>()) return MakeCast(n->a, dtype);
  if (const auto* n = e.As<loop::Bitcast>()) return MakeBitcast(n->a, dtype);
  if (const auto* n = e.As<loop::Load>()) return MakeLoad(*n, dtype);
  if (const auto* n = e.As<loop::Fma>()) {
    const std::string a = Print(n->a), b = Print(n->b), c = Print(n->c);
    return {absl::StrCat(context_.helpers.Fma(dtype), "(", a, ", ", b, ", ", c, ")"), kPrimary};
  }
  if (const auto* n = e.As<loop::Dot>()) return MakeDot(*n);
  if (const auto* n = e.As<loop::Select>()) {
    const std::string condition = Print(n->condition, kEquality);
    const std::string if_true = Print(n->if_true, kAdditive);
    const std::string if_false = Print(n->if_false, kAdditive);
    return {absl::StrCat(condition, " ? ", if_true, " : ", if_false), kConditional};
  }
  return Fail(absl::StrCat("an expression for vectors: ", ToString(e)));
}

// Prints a call of the instruction's function with the addresses of the two groups.
ExprPrinter::Text ExprPrinter::MakeDot(const loop::Dot& node) {
  const DotInstruction* row = FindDotInstruction(node.kind.instruction);
  if (row == nullptr || !HasSpellingInC(node)) {
    return Fail(absl::StrCat("dot<", node.kind.instruction, "> has no spelling in C"));
  }
  const auto address = [&](const Expr& group) {
    const auto* load = group.As<loop::Load>();
    const loop::Load first = {load->buffer, {load->index[0].As<loop::Ramp>()->base}};
    const std::string at = absl::StrCat("&", MakeLoad(first, load->buffer->dtype).text);
    const int bytes = row->group * load->buffer->dtype.bytes();
    if (load->buffer->alignment_bytes < bytes) return at;
    context_.macros.insert("KILN_ASSUME_ALIGNED");
    return absl::StrCat("KILN_ASSUME_ALIGNED(", at, ", ", bytes, ")");
  };
  const std::string sum = Print(node.sum), a = address(node.a), b = address(node.b);
  return {absl::StrCat(context_.helpers.Dot(*row), "(", sum, ", ", a, ", ", b, ")"), kPrimary};
}

std::string ExprPrinter::ElementAddress(const loop::Argument& element) {
  const std::string* name = NameOf(element.buffer.get());
  if (name == nullptr) {
    return Fail(absl::StrCat("buffer ", element.buffer->name, " is not in scope")).text;
  }
  return absl::StrCat("&", *name, "[", Print(element.offset), "]");
}

const std::string* ExprPrinter::NameOf(const loop::BufferNode* buffer) const {
  if (auto it = buffers_.find(buffer); it != buffers_.end()) return &it->second;
  const auto constant = context_.constants.find(buffer);
  return constant == context_.constants.end() ? nullptr : &constant->second;
}

ExprPrinter::Text ExprPrinter::MakeLoad(const loop::Load& node, DType dtype) {
  if (node.index.size() != 1) {
    return Fail(absl::StrCat("a load from ", node.buffer->name, " with ", node.index.size(),
                             " indices; FlattenBuffers leaves one"));
  }
  const std::string* name = NameOf(node.buffer.get());
  if (name == nullptr) return Fail(absl::StrCat("buffer ", node.buffer->name, " is not in scope"));
  if (CType(node.buffer->dtype) != CType(dtype)) {
    return Fail(absl::StrCat("a load of ", dtype.ToString(), " from ", node.buffer->name, " of ",
                             node.buffer->dtype.ToString()));
  }
  return {absl::StrCat(*name, "[", Print(node.index[0]), "]"), kPrimary};
}

ExprPrinter::Text ExprPrinter::Cast(const std::string& type, Text operand) {
  if (operand.precedence < kPrefix) operand.text = absl::StrCat("(", operand.text, ")");
  return {absl::StrCat("(", type, ")", operand.text), kPrefix};
}

ExprPrinter::Text ExprPrinter::MakeCast(const Expr& from, DType to) {
  const DType dtype = context_.DTypeOf(from.type());
  if (dtype == to) return Visit(from);
  if (to.is_bool()) {
    return {absl::StrCat(Print(from, kRelational),
                         " != ", dtype.is_float() ? FloatLiteral(dtype, 0) : IntLiteral(dtype, 0)),
            kEquality};
  }
  const auto is_stored = [](DType t) { return t.is_float() && t.bits == 16; };
  if (is_stored(dtype) || is_stored(to)) {
    const std::string operand = Print(from);
    return {absl::StrCat(context_.helpers.StoredFloatCast(dtype, to), "(", operand, ")"), kPrimary};
  }
  if (dtype.is_float() && !to.is_float()) {
    const std::string operand = Print(from);
    return {absl::StrCat(context_.helpers.SaturatingCast(dtype, to), "(", operand, ")"), kPrimary};
  }
  return Cast(CType(to), Visit(from));
}

ExprPrinter::Text ExprPrinter::MakeBitcast(const Expr& from, DType to) {
  const DType dtype = context_.DTypeOf(from.type());
  if (CType(dtype) == CType(to)) return Visit(from);
  if (!dtype.is_float() && !to.is_float()) return Cast(CType(to), Visit(from));
  const std::string operand = Print(from);
  return {absl::StrCat(context_.helpers.Bitcast(dtype, to), "(", operand, ")"), kPrimary};
}

}  // namespace kiln::codegen
