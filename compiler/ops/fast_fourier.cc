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

// x, or -x where the condition holds.
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

// An index of rows and what is behind it.
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
  std::vector<double> values;
  for (int64_t i = 0; i < entries; ++i) {
    for (const double value : {std::cos(angle(i)), std::sin(angle(i))}) {
      values.push_back(dtype_.is_float()
                           ? value
                           : std::floor(.5 + static_cast<double>(dtype_.MaxInt()) * value));
    }
  }
  std::string bytes;
  for (const double value : values) bytes += Tensor::Scalar(dtype_, value).bytes();
  const Access table = b_.Table(name, Tensor({{entries, 2}, dtype_}, std::move(bytes)));
  return [this, table](const Indices& i) { return Value(table(i)); };
}

// Position (group * radix + q) * length + k of the result is made of k of the `radix` transforms of
// the group. `outer` are the radices of the steps to come where x is the input of all: x is read at
// the position with its digits in reverse.
Access FastFourier::Combined(const Step& step, const std::vector<int64_t>& outer, const Access& x,
                             const Access& twiddles, bool inverse) {
  const auto [radix, length] = step;
  const int64_t groups = count_ / (radix * length);
  const Shape digits = outer.empty() ? Shape{groups} : Shape(outer);
  const size_t rank = rows_.size(), depth = digits.size();
  const auto group_of = [&](const Indices& rest) {
    Expr group = 0;
    for (size_t d = 0; d < depth; ++d) group = group * Expr(digits[d]) + rest[d];
    return group;
  };
  // Where part q, k of a group is read.
  const auto source = [&](const Split& at, const Expr& q, const Expr& k) {
    if (outer.empty()) return (group_of(at.rest) * Expr(radix) + q) * Expr(length) + k;
    Expr position = 0;
    int64_t stride = 1;
    for (size_t d = 0; d < depth; ++d) {
      position = position + at.rest[d] * Expr(stride);
      stride *= digits[d];
    }
    return position + q * Expr(stride);
  };
  const auto divided = [&](const Split& at, const Expr& q, const Expr& k, const Expr& c) {
    return DividedBy(Value(x(Joined(at.rows, {source(at, q, k), c}))), radix);
  };
  const std::string name = absl::StrCat("of_", radix * length);
  // Parts 1 … radix - 1, turned.
  const Access turned = b_.ReduceInto(
      absl::StrCat("turned_", name), Joined(rows_, {groups, radix - 1, length, 2}),
      Joined(Joined(rows_, digits), {radix - 1, length, 2}),
      [&](const Indices& i) {
        const Split at(i, rank);
        return Joined(at.rows,
                      {group_of(at.rest), at.rest[depth], at.rest[depth + 1], at.rest[depth + 2]});
      },
      {}, loop::Combine::kNone,
      [&](const Indices& i, const Indices&) {
        const Split at(i, rank);
        const Expr q = at.rest[depth] + Expr(1), k = at.rest[depth + 1];
        const Expr turn = q * k * Expr(groups);
        return loop::MakeCast(
            dtype_,
            ComplexProduct([&](const Expr& c) { return divided(at, q, k, c); },
                           [&](const Expr& c) { return twiddles({turn, c}); }, at.rest[depth + 2]));
      });
  return b_.ReduceInto(
      name, Joined(rows_, {count_, 2}), Joined(Joined(rows_, digits), {length, radix, 2}),
      [&](const Indices& i) {
        const Split at(i, rank);
        const Expr q = at.rest[depth + 1], k = at.rest[depth];
        return Joined(at.rows, {(group_of(at.rest) * Expr(radix) + q) * Expr(length) + k,
                                at.rest[depth + 2]});
      },
      {}, loop::Combine::kNone,
      [&](const Indices& i, const Indices&) {
        const Split at(i, rank);
        const Expr k = at.rest[depth], q = at.rest[depth + 1], c = at.rest[depth + 2];
        const Expr first = divided(at, Expr(0), k, c), is_odd = q % Expr(2) == Expr(1);
        const auto part = [&](int64_t number, const Expr& component) {
          return Value(
              turned(Joined(at.rows, {group_of(at.rest), Expr(number - 1), k, component})));
        };
        if (radix == 2) return loop::MakeCast(dtype_, first + NegatedIf(is_odd, part(1, c)));
        // Parts 1 and 3 are turned by q quarters.
        const Expr even = first + NegatedIf(is_odd, part(2, c));
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
  const double turn = (inverse ? 2 : -2) * std::numbers::pi;
  const Access twiddles = Circle("twiddles", count_, [&](int64_t i) {
    return turn * static_cast<double>(i) / static_cast<double>(count_);
  });
  Access result = x;
  int64_t length = 1;
  while (!radices.empty()) {
    const int64_t radix = radices.back();
    radices.pop_back();
    const bool is_first = length == 1;
    result = Combined({radix, length}, is_first ? radices : std::vector<int64_t>(), result,
                      twiddles, inverse);
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
    return Value(x(Joined(at.rows, {position, Expr(component)})));
  };
  // Component 0 or 1 of the number at k, and of the conjugate of that at count_ - k.
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
      [&](const Expr& component) { return twiddles({k - Expr(1), component}); }, c);
  const Expr is_upper = number * Expr(2) >= Expr(count_);
  return NegatedIf(is_upper && c == Expr(1), sum) + NegatedIf(is_upper && c == Expr(0), turned);
}

void FastFourier::Forward(const Access& samples) {
  const size_t rank = rows_.size();
  const Access pairs = [&, rank](const Indices& i) {
    const Split at(i, rank);
    return samples(Joined(at.rows, {at.rest[0] * Expr(2) + at.rest[1]}));
  };
  const Access transformed = Transform(pairs, false), halves = Halves(false);
  b_.Output(0, [&](const Indices& bin) {
    const Expr value = Untangled(transformed, halves, bin);
    const Expr half = dtype_.is_float() ? value * loop::Const(value_, 0.5) : Shr(value, Expr(1));
    return loop::MakeCast(dtype_, half);
  });
  // The first and the last bin are the sum and the difference of real and imaginary part.
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
          return DividedBy(Value(transformed(Joined(at.rows, {Expr(0), Expr(c)}))), 2);
        };
        const Expr real = part(0) + NegatedIf(at.rest[0] == Expr(1), part(1));
        return loop::MakeCast(
            dtype_, loop::MakeSelect(at.rest[1] == Expr(0), real, loop::Const(value_, 0)));
      });
}

void FastFourier::Inverse(const Access& bins) {
  const size_t rank = rows_.size();
  const Access halves = Halves(true);
  const Access tangled = b_.Recurrence(
      "tangled", Joined(rows_, {count_, 2}),
      [&](const Indices& i) { return loop::MakeCast(dtype_, Untangled(bins, halves, i)); },
      Joined(rows_, {2}),
      [&](const Indices& i) {
        const Split at(i, rank);
        return Joined(at.rows, {Expr(0), at.rest[0]});
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
    return pairs(Joined(at.rows, {at.rest[0] / Expr(2), at.rest[0] % Expr(2)}));
  });
}

}  // namespace kiln
