// SPDX-License-Identifier: Apache-2.0
#include "compiler/lower/slow_paths.h"

#include <optional>
#include <set>

#include "compiler/loop/mutate.h"
#include "compiler/target/float_units.h"
#include "compiler/target/instructions.h"

namespace kiln {
namespace {

using loop::Expr;

constexpr int kNarrowBits = 16;

// Kinds of arithmetic in a function.
struct Arithmetic {
  bool on_floats = false, on_doubles = false;
  bool dots = false;             // an instruction that adds several products
  bool narrow_products = false;  // products of two integers of at most kNarrowBits
};

bool IsNarrow(const Expr& e) {
  const auto* cast = e.As<loop::Cast>();
  if (cast == nullptr) return false;
  const DType from = cast->a.type().dtype;
  return from.is_integral() && from.bits <= kNarrowBits;
}

// Returns the operand whose type is the type of the computation, or null if `e` computes nothing.
Expr OperandOf(const Expr& e) {
  if (const auto* unary = e.As<loop::Unary>()) return unary->a;
  if (const auto* binary = e.As<loop::Binary>()) return binary->a;
  if (const auto* compare = e.As<loop::Compare>()) return compare->a;
  if (const auto* fma = e.As<loop::Fma>()) return fma->a;
  if (const auto* cast = e.As<loop::Cast>()) {
    return e.type().dtype.is_float() ? e : cast->a;
  }
  return {};
}

Arithmetic ArithmeticOf(const loop::Func& func) {
  Arithmetic result;
  loop::VisitStmt(func.body, [&](const Expr& e) {
    const Expr operand = OperandOf(e);
    if (operand && operand.type().dtype.is_float()) {
      (operand.type().dtype.bits > 32 ? result.on_doubles : result.on_floats) = true;
    }
    result.dots |= e.As<loop::Dot>() != nullptr;
    const auto* binary = e.As<loop::Binary>();
    result.narrow_products |= binary != nullptr && binary->op == loop::BinaryOp::kMul &&
                              IsNarrow(binary->a) && IsNarrow(binary->b);
  });
  return result;
}

std::optional<SlowReason> ReasonOf(const Arithmetic& arithmetic, bool sums_products,
                                   const Target& target) {
  if (arithmetic.on_doubles && !HasDoubles(target)) return SlowReason::kSoftwareDouble;
  if (arithmetic.on_floats && !target.has_fpu) return SlowReason::kSoftwareFloat;
  if (sums_products && arithmetic.narrow_products && !arithmetic.dots &&
      !DotInstructionsOf(target, DType::Int(32)).empty()) {
    return SlowReason::kSingleProducts;
  }
  return std::nullopt;
}

}  // namespace

std::vector<SlowPath> FindSlowPaths(const Lowered& lowered, const Target& target) {
  std::vector<SlowPath> paths;
  if (!target.is_baremetal()) return paths;
  std::set<std::string> seen;
  for (const Call& call : lowered.calls) {
    const loop::Func* func = lowered.program.FindFunc(call.function);
    if (func == nullptr || !call.cost.has_value() || !seen.insert(call.function).second) continue;
    const std::optional<SlowReason> reason =
        ReasonOf(ArithmeticOf(*func), lowered.contractions.contains(call.function), target);
    if (!reason.has_value()) continue;
    paths.push_back({.function = call.function,
                     .op_names = call.op_names,
                     .source = call.source,
                     .reason = *reason,
                     .operations = call.cost->operations});
  }
  return paths;
}

const char* TextOf(SlowReason reason) {
  switch (reason) {
    case SlowReason::kSoftwareFloat:
      return "float32 without a floating-point unit, every operation a call";
    case SlowReason::kSoftwareDouble:
      return "float64 without a unit of double precision, every operation a call";
    case SlowReason::kSingleProducts:
      return "integer products one by one, for which no instruction of several fits";
  }
  return "";
}

}  // namespace kiln
