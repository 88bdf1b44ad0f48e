// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/fast_fourier.h"

#include <cmath>
#include <numbers>
#include <utility>

#include "compiler/loop/math.h"

namespace kiln {
namespace {

bool IsNarrow(DType dtype) { return dtype == DType::Int(16); }
int FractionBits(DType dtype) { return dtype.bits - 1; }

// Returns -x if the condition holds, else x.
Expr NegatedIf(const Expr& condition, const Expr& x) { return loop::MakeSelect(condition, -x, x); }

Indices Joined(const Indices& rows, const Indices& rest) {
  Indices index = rows;
  index.insert(index.end(), rest.begin(), rest.end());
  return index;
}

Shape Joined(const Shape& rows, const Shape& rest) {
  Shape shape = rows;
  shape.insert(shape.end(), rest.begin(), rest.end());
  return shape;
}

// An index, split into the index of rows and the rest.
struct Split {
  Indices rows, rest;
  Split(const Indices& index, size_t rank)
      : rows(index.begin(), index.begin() + static_cast<std::ptrdiff_t>(rank)),
        rest(index.begin() + static_cast<std::ptrdiff_t>(rank), index.end()) {}
};

}  // namespace

FastFourier::FastFourier(StageBuilder& b, DType dtype, Shape rows, int64_t size)
    : b_(b),
      dtype_(dtype),
      value_(dtype.is_float() ? dtype : DType::Int(32)),
      wide_(dtype == DType::Int(32) ? DType::Int(64) : value_),
      rows_(std::move(rows)),
      count_(size / 2) {}

Expr FastFourier::Value(const Expr& x) const { return loop::MakeCast(value_, x); }

Expr FastFourier::Wrapped(const Expr& x) const {
  return IsNarrow(dtype_) ? Value(loop::MakeCast(dtype_, x)) : x;
}

Expr FastFourier::Product(const Expr& a, const Expr& b) const {
  return loop::MakeCast(wide_, a) * loop::MakeCast(wide_, b);
}

Expr FastFourier::Rounded(const Expr& product) const {
  if (dtype_.is_float()) return product;
  const int bits = FractionBits(dtype_);
  const Expr half = loop::IntConst(product.type(), int64_t{1} << (bits - 1));
  return Wrapped(Value(Shr(product + half, Expr(bits))));
}

Expr FastFourier::DividedBy(const Expr& x, int64_t divisor) const {
  if (dtype_.is_float()) return x;
  return Rounded(Product(x, loop::IntConst(x.type(), dtype_.MaxInt() / divisor)));
}

Expr FastFourier::ComplexProduct(const Complex& x, const Complex& w, const Expr& c) const {
  return Rounded(Product(x(c), w(Expr(0))) +
                 NegatedIf(c == Expr(0), Product(x(Expr(1) - c), w(Expr(1)))));
}

Access FastFourier::Circle(const std::string& name, int64_t entries,
                           const std::function<double(int64_t)>& angle) {
  std::string bytes;
  for (const bool is_real : {true, false}) {
    for (int64_t i = 0; i < entries; ++i) {
      const double value = is_real ? std::cos(angle(i)) : std::sin(angle(i));
      const double scaled = std::floor(.5 + static_cast<double>(dtype_.MaxInt()) * value);
      bytes += Tensor::Scalar(dtype_, dtype_.is_float() ? value : scaled).bytes();
    }
  }
  const Access table = b_.Table(name, Tensor({{2, entries}, dtype_}, std::move(bytes)));
  return [this, table](const Indices& i) { return Value(table(i)); };
}

// Combines each group of `radix` transforms: element q * length + k of the group's result is made
// from element k of each transform. In the first step, `outer` has the radices of the steps to
// come, and x is read at the position with its digits reversed. It is empty in later steps. Real
// and imaginary parts of the result are stored apart.
Access FastFourier::Combined(const Step& step, const std::vector<int64_t>& outer, const Access& x,
                             bool inverse) {
  const auto [radix, length] = step;
  const Shape digits = outer.empty() ? Shape{count_ / (radix * length)} : Shape(outer);
  const size_t rank = rows_.size(), depth = digits.size();
  const std::string name = absl::StrCat("of_", radix * length);
  // Twiddles: the angle of part q + 1 at k is `turn` * (q + 1) * k. A full turn is
  // radix * length times `turn`.
  const double turn = (inverse ? 2 : -2) * std::numbers::pi / static_cast<double>(radix * length);
  const Access twiddles = Circle("twiddles_" + name, (radix - 1) * length, [&](int64_t i) {
    return turn * static_cast<double>((i / length + 1) * (i % length));
  });
  // Axes after those of rows: part, the digits of the group, k, component.
  const Shape shape = Joined(rows_, {2, count_});
  const Shape axes = Joined(Joined(rows_, {radix}), Joined(digits, {length, 2}));
  const auto part_of = [&](const Indices& i) { return i[rank]; };
  const auto k_of = [&](const Indices& i) { return i[rank + depth + 1]; };
  const auto component_of = [&](const Indices& i) { return i.back(); };
  const auto position_of = [&](const Indices& i, const Expr& q) {
    Expr group = 0;
    for (size_t d = 0; d < depth; ++d) group = group * Expr(digits[d]) + i[rank + 1 + d];
    return (group * Expr(radix) + q) * Expr(length) + k_of(i);
  };
  const auto source_of = [&](const Indices& i) {
    if (outer.empty()) return position_of(i, part_of(i));
    Expr position = 0;
    int64_t stride = 1;
    for (size_t d = 0; d < depth; ++d) {
      position = position + i[rank + 1 + d] * Expr(stride);
      stride *= digits[d];
    }
    return position + part_of(i) * Expr(stride);
  };
  const auto index = [&](const Indices& i) {
    return Joined(Split(i, rank).rows, {component_of(i), position_of(i, part_of(i))});
  };
  // Part 0 stays unchanged; the other parts are multiplied by their twiddles.
  const Access turned = b_.ReduceInto(
      "turned_" + name, shape, axes, index, {}, loop::Combine::kNone,
      [&](const Indices& i, const Indices&) {
        const Expr q = part_of(i), c = component_of(i);
        const auto divided = [&](const Expr& component) {
          return DividedBy(Value(x(Joined(Split(i, rank).rows, {component, source_of(i)}))), radix);
        };
        const Expr turn = Max(q - Expr(1), Expr(0)) * Expr(length) + k_of(i);
        const Expr product = ComplexProduct(
            divided, [&](const Expr& component) { return twiddles({component, turn}); }, c);
        return loop::MakeCast(dtype_, loop::MakeSelect(q == Expr(0), divided(c), product));
      });
  return b_.ReduceInto(
      name, shape, axes, index, {}, loop::Combine::kNone, [&](const Indices& i, const Indices&) {
        const Expr c = component_of(i), q = part_of(i), is_odd = q % Expr(2) == Expr(1);
        const auto part = [&](int64_t number, const Expr& component) {
          return Value(
              turned(Joined(Split(i, rank).rows, {component, position_of(i, Expr(number))})));
        };
        if (radix == 2) return loop::MakeCast(dtype_, part(0, c) + NegatedIf(is_odd, part(1, c)));
        // The sum or difference of parts 1 and 3 is rotated by q quarter turns.
        const Expr even = part(0, c) + NegatedIf(is_odd, part(2, c));
        const Expr other = loop::MakeSelect(is_odd, Expr(1) - c, c);
        const Expr odd = part(1, other) + NegatedIf(is_odd, part(3, other));
        const Expr turned_down = inverse ? c == Expr(0) : c == Expr(1);
        const Expr is_negative =
            loop::MakeSelect(is_odd, Not(turned_down == (q == Expr(3))), q == Expr(2));
        return loop::MakeCast(dtype_, even + NegatedIf(is_negative, odd));
      });
}

Access FastFourier::Transform(const Access& x, bool inverse) {
  std::vector<int64_t> radices;
  for (int64_t rest = count_; rest > 1; rest /= radices.back()) {
    radices.push_back(rest % 4 == 0 ? 4 : 2);
  }
  Access result = x;
  int64_t length = 1;
  while (!radices.empty()) {
    const int64_t radix = radices.back();
    radices.pop_back();
    const bool is_first = length == 1;
    result =
        Combined({radix, length}, is_first ? radices : std::vector<int64_t>(), result, inverse);
    length *= radix;
  }
  return result;
}

Access FastFourier::Halves(bool inverse) {
  return Circle("halves", count_ / 2, [&](int64_t i) {
    const double angle =
        -std::numbers::pi * (static_cast<double>(i + 1) / static_cast<double>(count_) + .5);
    return inverse ? -angle : angle;
  });
}

Expr FastFourier::Untangled(const Access& x, const Access& twiddles, const Indices& bin) const {
  const Split at(bin, rows_.size());
  const Expr number = at.rest[0], c = at.rest[1];
  const Expr k = Max(Min(number, Expr(count_) - number), Expr(1));
  const auto load = [&](const Expr& position, int64_t component) {
    return Value(x(Joined(at.rows, {Expr(component), position})));
  };
  // `near` is half of a component of the number at k, `far` half of a component of the conjugate of
  // the number at count_ - k. Floats are halved by the caller.
  const auto near = [&](int64_t component) { return DividedBy(load(k, component), 2); };
  const auto far = [&](int64_t component) {
    const Expr value = load(Expr(count_) - k, component);
    return DividedBy(component == 0 ? value : Wrapped(-value), 2);
  };
  const auto both = [&](const Expr& component, const auto& combine) {
    return Wrapped(
        loop::MakeSelect(component == Expr(0), combine(near(0), far(0)), combine(near(1), far(1))));
  };
  const Expr sum = both(c, [](const Expr& a, const Expr& b) { return a + b; });
  const Expr turned = ComplexProduct(
      [&](const Expr& component) {
        return both(component, [](const Expr& a, const Expr& b) { return a - b; });
      },
      [&](const Expr& component) { return twiddles({component, k - Expr(1)}); }, c);
  const Expr is_upper = number * Expr(2) >= Expr(count_);
  return NegatedIf(is_upper && c == Expr(1), sum) + NegatedIf(is_upper && c == Expr(0), turned);
}

void FastFourier::Forward(const Access& samples) {
  const size_t rank = rows_.size();
  const Access pairs = [&, rank](const Indices& i) {
    const Split at(i, rank);
    return samples(Joined(at.rows, {at.rest[1] * Expr(2) + at.rest[0]}));
  };
  const Access transformed = Transform(pairs, false), halves = Halves(false);
  b_.Output(0, [&](const Indices& bin) {
    const Expr value = Untangled(transformed, halves, bin);
    const Expr half = dtype_.is_float() ? value * loop::Const(value_, 0.5) : Shr(value, Expr(1));
    return loop::MakeCast(dtype_, half);
  });
  // The first and the last bin are the sum and the difference of the real and the imaginary part of
  // the transform's number 0.
  if (NumElements(rows_) == 0) return;
  b_.Update(
      0, Joined(rows_, {2, 2}),
      [&](const Indices& end) {
        const Split at(end, rank);
        return Joined(at.rows, {at.rest[0] * Expr(count_), at.rest[1]});
      },
      [&](const Indices& end, const Expr&) {
        const Split at(end, rank);
        const auto part = [&](int64_t c) {
          return DividedBy(Value(transformed(Joined(at.rows, {Expr(c), Expr(0)}))), 2);
        };
        const Expr real = part(0) + NegatedIf(at.rest[0] == Expr(1), part(1));
        return loop::MakeCast(
            dtype_, loop::MakeSelect(at.rest[1] == Expr(0), real, loop::Const(value_, 0)));
      });
}

void FastFourier::Inverse(const Access& bins) {
  const size_t rank = rows_.size();
  const Access halves = Halves(true);
  const Access by_component = [&, rank](const Indices& i) {
    const Split at(i, rank);
    return bins(Joined(at.rows, {at.rest[1], at.rest[0]}));
  };
  const Access tangled = b_.Recurrence(
      "tangled", Joined(rows_, {2, count_}),
      [&](const Indices& i) {
        const Split at(i, rank);
        return loop::MakeCast(
            dtype_, Untangled(by_component, halves, Joined(at.rows, {at.rest[1], at.rest[0]})));
      },
      Joined(rows_, {2}),
      [&](const Indices& i) {
        const Split at(i, rank);
        return Joined(at.rows, {at.rest[0], Expr(0)});
      },
      [&](const Indices& i, const Access&) {
        const Split at(i, rank);
        const auto real = [&](int64_t bin) {
          return Value(bins(Joined(at.rows, {Expr(bin), Expr(0)})));
        };
        const Expr value = real(0) + NegatedIf(at.rest[0] == Expr(1), real(count_));
        return loop::MakeCast(dtype_, DividedBy(Wrapped(value), 2));
      });
  const Access pairs = Transform(tangled, true);
  b_.Output(0, [&](const Indices& i) {
    const Split at(i, rank);
    return pairs(Joined(at.rows, {at.rest[0] % Expr(2), at.rest[0] / Expr(2)}));
  });
}

}  // namespace kiln
