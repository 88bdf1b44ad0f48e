// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/fixed_point.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/loop/math.h"
#include "compiler/schedule/value_range.h"

namespace kiln::schedule {
namespace {

using loop::BinaryOp;
using loop::Range;

constexpr Range kDoubles = {-(int64_t{1} << 30) + 1, (int64_t{1} << 30) - 1};
// Suffix of the names of constants that are halves of powers of two.
constexpr char kHalf[] = "_half";
// Integers that have an int32 neighbor on either side.
constexpr Range kNeighbours = {-(int64_t{1} << 31) + 1, (int64_t{1} << 31) - 2};

Expr I32(int64_t value) { return loop::IntConst(loop::Type::Of(kI32), value); }

const loop::Binary* AsBinary(const Expr& e, BinaryOp op) {
  const auto* binary = e.As<loop::Binary>();
  const bool is_int32 = binary != nullptr && e.type() == loop::Type::Of(kI32);
  return is_int32 && binary->op == op ? binary : nullptr;
}

// True if the target has SMMULR (DSP extension) or VRMULH (Helium).
bool RoundsTopInOneInstruction(const Target& target) {
  return target.HasFeature("dsp") || target.HasFeature("mve");
}

class Rewriter {
 public:
  explicit Rewriter(Context& context) : context_(context), ranges_(context) {}

  void Rewrite(Stage& stage) {
    stage.value = loop::MutateExpr(stage.value, [this](const Expr& e) { return Shorter(e); });
    ranges_.Define(stage);
  }

 private:
  // Returns the replacement of a node whose operands have been rewritten; empty if the node stays.
  Expr Shorter(const Expr& e) {
    if (const auto* n = AsBinary(e, BinaryOp::kRoundingMulHigh)) return MulHigh(*n);
    if (const auto* n = AsBinary(e, BinaryOp::kRoundingShr)) return ShiftAway(*n);
    if (const auto* n = AsBinary(e, BinaryOp::kAdd)) {
      const Expr shifted = AddBeforeShift(*n);
      return shifted.get() != nullptr ? shifted : OneConstant(*n, 1);
    }
    if (const auto* n = AsBinary(e, BinaryOp::kSub)) return OneConstant(*n, -1);
    if (const auto* n = AsBinary(e, BinaryOp::kMax)) return Saturation(*n);
    return {};
  }

  // Rewrites max(min(x, most), least) as a saturation if the limits are those of a type.
  static Expr Saturation(const loop::Binary& n) {
    int64_t least = 0, most = 0;
    const auto* at_most = AsBinary(n.a, BinaryOp::kMin);
    if (at_most == nullptr || !loop::AsInt(n.b, &least) || !loop::AsInt(at_most->b, &most))
      return {};
    for (const auto& [op, to] : loop::kSaturations) {
      const Range limits = Range::OfType(to);
      if (least == limits.lo && most == limits.hi) return loop::MakeUnary(op, at_most->a);
    }
    return {};
  }

  Expr MulHigh(const loop::Binary& n) {
    const Expr shorter = MulShifted(n);
    return shorter.get() != nullptr ? shorter : MulTop(n);
  }

  // Rewrites round((v << s) m / 2^31) with a constant m, which TFLite's addition has. With t = 31 -
  // s and m = h 2^t + l, it is v h + ((v l + 2^(t - 1)) >> t). If l is 0, as for a power of two,
  // this is shorter on every machine. Otherwise it is shorter only if the upper half of a product
  // takes several instructions.
  Expr MulShifted(const loop::Binary& n) {
    const auto* shl = AsBinary(n.a, BinaryOp::kShl);
    int64_t s = 0, m = 0;
    if (shl == nullptr || !loop::AsInt(shl->b, &s) || !loop::AsInt(n.b, &m)) return {};
    if (s < 1 || s > 30 || m <= 0) return {};
    const int64_t t = 31 - s, high = m >> t, low = m & ((int64_t{1} << t) - 1);
    const Range v = ranges_.Of(shl->a);
    if (!Fits(loop::Multiply(v, Range::Point(int64_t{1} << s)))) return {};
    if (low == 0) return shl->a * I32(high);
    const Range of_low =
        loop::Add(loop::Multiply(v, Range::Point(low)), Range::Point(int64_t{1} << (t - 1)));
    if (context_.target.has_mul_high() || !Fits(of_low)) return {};
    const Expr rounded = shl->a * I32(low) + I32(int64_t{1} << (t - 1));
    return shl->a * I32(high) + Shr(rounded, I32(t));
  }

  Expr MulTop(const loop::Binary& n) {
    if (context_.target.has_doubling_mul_high() || !ranges_.Of(n.a).within(kDoubles)) return {};
    return loop::RoundingMulTop(Shl(n.a, I32(1)), n.b);
  }

  // Rewrites a / 2^n, with halves rounded away from zero. In a - (a < 0), all halves are rounded
  // up.
  Expr ShiftAway(const loop::Binary& n) {
    const Range amount = ranges_.Of(n.b);
    if (amount.lo < 0 || amount.hi > 31 || !ranges_.Of(n.a).within(kNeighbours)) return {};
    const Expr sign = Shr(n.a, I32(31));
    if (RoundsTopInOneInstruction(context_.target) && amount.lo >= 2) {
      // This instruction rounds in the same way, and can add a zero point, too (SMMLAR).
      const Expr power =
          OfAmount<int32_t>(n.b, kI32, "_power", [](int64_t v) { return int64_t{1} << (32 - v); });
      if (power.get() != nullptr) return loop::RoundingMulTop(n.a + sign, power);
    }
    // If memory is short, constants of a byte are used instead. They also need no register for a
    // large number.
    const Expr shifted = context_.target.short_of_memory ? Expr() : ShiftOfHalves(n, sign, amount);
    if (shifted.get() != nullptr || amount.lo < 1) return shifted;
    const Expr less = OfAmount<int8_t>(n.b, kI8, "_less", [](int64_t v) { return v - 1; });
    if (less.get() == nullptr) return {};
    return Shr(Shr(n.a + sign, less) + I32(1), I32(1));
  }

  // Returns (a - (a < 0) + 2^(n - 1)) >> n, or a if n is 0.
  Expr ShiftOfHalves(const loop::Binary& n, const Expr& sign, const Range& amount) {
    const int64_t most = amount.hi == 0 ? 0 : int64_t{1} << (amount.hi - 1);
    if (!Fits(loop::Add(ranges_.Of(n.a), {-1, most}))) return {};
    const Expr half = OfAmount<int32_t>(n.b, kI32, kHalf, Half);
    if (half.get() == nullptr) return {};
    if (amount.lo > 0) return Shr(n.a + sign + half, n.b);
    const Expr is_shifted =
        OfAmount<int8_t>(n.b, kI8, "_is_shifted", [](int64_t v) { return v > 0 ? -1 : 0; });
    return Shr(n.a + loop::MakeBinary(BinaryOp::kAnd, sign, is_shifted) + half, n.b);
  }

  static int64_t Half(int64_t amount) { return amount == 0 ? 0 : int64_t{1} << (amount - 1); }

  // Rewrites ((w + k) >> n) + z as (w + (k + (z << n))) >> n.
  Expr AddBeforeShift(const loop::Binary& n) {
    int64_t z = 0, k = 0, amount = 0;
    const auto* shr = AsBinary(n.a, BinaryOp::kShr);
    if (shr == nullptr || !loop::AsInt(n.b, &z)) return {};
    const auto* sum = AsBinary(shr->a, BinaryOp::kAdd);
    if (sum == nullptr) return {};
    const Range w = ranges_.Of(sum->a), by = ranges_.Of(shr->b);
    if (by.lo < 0 || by.hi > 31) return {};
    const Range zero_points = loop::Union(Range::Point(z * (int64_t{1} << by.lo)),
                                          Range::Point(z * (int64_t{1} << by.hi)));
    const Range before = loop::Add(w, ranges_.Of(sum->b));
    if (!Fits(before) || !Fits(loop::Add(before, zero_points))) return {};
    if (loop::AsInt(sum->b, &k) && loop::AsInt(shr->b, &amount)) {
      return Shr(sum->a + I32(k + (z << amount)), shr->b);
    }
    // The constants must be halves of these amounts, which ShiftOfHalves has added.
    const auto *halves = sum->b.As<loop::Load>(), *amounts = shr->b.As<loop::Load>();
    if (halves == nullptr || amounts == nullptr) return {};
    const auto found = derived_.find({amounts->buffer.get(), nullptr, kHalf});
    if (found == derived_.end() || found->second != halves->buffer) return {};
    return Shr(
        sum->a + OfAmount<int32_t>(shr->b, kI32, absl::StrCat(kHalf, "_and_", z),
                                   [z](int64_t v) { return Half(v) + z * (int64_t{1} << v); }),
        shr->b);
  }

  static bool Fits(const Range& range) {
    return range.bounded() && range.within(Range::OfType(kI32));
  }

  // Returns f of a shift amount, which is a number or an element of a constant. In the latter case
  // a derived constant holds the results.
  template <typename T>
  Expr OfAmount(const Expr& n, DType dtype, const std::string& suffix,
                const std::function<int64_t(int64_t)>& f) {
    int64_t value = 0;
    if (loop::AsInt(n, &value)) return I32(f(value));
    const auto* load = n.As<loop::Load>();
    const loop::Constant* source = load == nullptr ? nullptr : FindConstant(context_, load->buffer);
    if (source == nullptr) return {};
    const Buffer derived =
        Derived<T>({load->buffer.get(), nullptr, suffix}, absl::StrCat(load->buffer->name, suffix),
                   dtype, [&](int64_t i) { return f(source->tensor.AsInt(i)); });
    return loop::MakeCast(kI32, loop::MakeLoad(derived, load->index));
  }

  // Rewrites x ± c1[i] ± c2[i] as x + c[i]. `sign` is the sign of c2.
  Expr OneConstant(const loop::Binary& n, int64_t sign) {
    const auto* inner = AsBinary(n.a, BinaryOp::kAdd);
    int64_t inner_sign = 1;
    if (inner == nullptr) {
      inner = AsBinary(n.a, BinaryOp::kSub);
      inner_sign = -1;
    }
    if (inner == nullptr) return {};
    const auto *first = inner->b.As<loop::Load>(), *second = n.b.As<loop::Load>();
    if (first == nullptr || second == nullptr || IsConstant(inner->a)) return {};
    const loop::Constant *a = FindConstant(context_, first->buffer),
                         *b = FindConstant(context_, second->buffer);
    if (a == nullptr || b == nullptr || first->buffer->shape != second->buffer->shape ||
        !SameIndex(*first, *second)) {
      return {};
    }
    const Buffer both = Derived<int32_t>(
        {first->buffer.get(), second->buffer.get(), absl::StrCat(inner_sign, "_", sign)},
        absl::StrCat(first->buffer->name, "_and_", second->buffer->name), kI32,
        [a, b, inner_sign, sign](int64_t i) {
          return inner_sign * a->tensor.AsInt(i) + sign * b->tensor.AsInt(i);
        });
    const std::vector<Expr> index = first->index;
    return inner->a + loop::MakeLoad(both, index);
  }

  bool IsConstant(const Expr& e) {
    const auto* load = e.As<loop::Load>();
    return load != nullptr && FindConstant(context_, load->buffer) != nullptr;
  }

  static bool SameIndex(const loop::Load& a, const loop::Load& b) {
    for (size_t d = 0; d < a.index.size(); ++d) {
      if (loop::ToString(a.index[d]) != loop::ToString(b.index[d])) return false;
    }
    return true;
  }

  // Origin of a derived constant: one or two other constants, and the operation.
  using Origin = std::tuple<const loop::BufferNode*, const loop::BufferNode*, std::string>;

  // Returns a constant of the shape of its first origin, which is made only once. Values wrap
  // around.
  template <typename T>
  Buffer Derived(const Origin& origin, const std::string& name, DType dtype,
                 const std::function<int64_t(int64_t)>& value) {
    Buffer& buffer = derived_[origin];
    if (buffer != nullptr) return buffer;
    const Shape& shape = std::get<0>(origin)->shape;
    std::vector<T> values(static_cast<size_t>(NumElements(shape)));
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<T>(value(static_cast<int64_t>(i)));
    }
    buffer = loop::MakeBuffer(name, dtype, shape, loop::BufferScope::kConstant);
    context_.constants.push_back({buffer, Tensor::From<T>(shape, dtype, values)});
    return buffer;
  }

  Context& context_;
  ValueRanges ranges_;
  std::map<Origin, Buffer> derived_;
};

}  // namespace

void ShortenFixedPoint(loop::Kernel& kernel, Context& context) {
  Rewriter rewriter(context);
  for (Stage& stage : kernel.stages) rewriter.Rewrite(stage);
}

}  // namespace kiln::schedule
