// SPDX-License-Identifier: Apache-2.0
// signal.rfft and signal.irfft, in log2(fft_length) steps. Integers are rounded as by the KISS FFT
// library, to the bit: each step of radix p divides them by p first, with 15 or 31 bits behind the
// point.
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/stage_builder.h"

namespace kiln {
namespace {

using loop::BinaryOp;

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

// The stages of a transform.
class FastFourier {
 public:
  // Of `size` real numbers, a power of two of at least 4, for every index of `rows`.
  FastFourier(StageBuilder& b, DType dtype, Shape rows, int64_t size);

  // Defines output 0, rows + (size / 2 + 1, 2), real and imaginary part of each bin, of `samples`,
  // which takes an index of rows and that of one of `size` samples.
  void Forward(const Access& samples);
  // Defines output 0, rows + (size), of `bins`, which takes an index of what Forward gives. The
  // imaginary parts of the first and the last are taken for 0.
  void Inverse(const Access& bins);

 private:
  using Index = std::function<Indices(const Indices&)>;
  // One step: groups of `radix` transforms of `length` each become one of radix * length.
  struct Step {
    int64_t radix, length;
  };

  // The arithmetic of one dtype. Values are float32, or int32 that are within the dtype.
  Expr Value(const Expr& x) const;
  Expr Wrapped(const Expr& x) const;
  Expr DividedBy(const Expr& x, int64_t divisor) const;
  Expr Product(const Expr& a, const Expr& b) const;
  Expr Rounded(const Expr& product) const;
  // Component c of the product of x and w, complex numbers as functions of the component.
  using Complex = std::function<Expr(const Expr& c)>;
  Expr ComplexProduct(const Complex& x, const Complex& w, const Expr& c) const;
  // Component c of entry `index` of a table of cos and sin of `angle(i)`.
  Access Circle(const std::string& name, int64_t entries,
                const std::function<double(int64_t)>& angle);

  // The transform of count_ complex numbers: `x` takes an index of rows, a position, a component.
  Access Transform(const Access& x, bool inverse);
  Access Combined(const Step& step, const std::vector<int64_t>& outer, const Access& x,
                  const Access& twiddles, bool inverse);
  // What turns the transform of pairs of samples into that of samples, and back: component c of bin
  // `bin`, of bins 1 to count_ - 1.
  Expr Untangled(const Access& x, const Access& twiddles, const Indices& bin) const;
  Access Halves(bool inverse);

  StageBuilder& b_;
  const DType dtype_, value_, wide_;
  const Shape rows_;
  const int64_t count_;  // complex numbers, each of two samples
};

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
  return Wrapped(Value(loop::MakeBinary(BinaryOp::kShr, product + half, Expr(bits))));
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
    const Expr half = dtype_.is_float() ? value * loop::Const(value_, 0.5)
                                        : loop::MakeBinary(BinaryOp::kShr, value, Expr(1));
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

constexpr int64_t kLeast = 4, kLargest = 1 << 16;

absl::Status CheckTransform(const InferContext& c) {
  const DType dtype = c.inputs[0].dtype;
  KILN_CONSTRAINT(1,
                  dtype == DType::Int(16) || dtype == DType::Int(32) || dtype == DType::Float(32),
                  dtype.ToString(), "int16, int32 or float32");
  const int64_t length = c.attrs.Int("fft_length");
  KILN_CONSTRAINT(
      2,
      length >= kLeast && length <= kLargest && std::has_single_bit(static_cast<uint64_t>(length)),
      absl::StrCat("fft_length ", length),
      absl::StrCat("a power of two from ", kLeast, " to ", kLargest));
  return absl::OkStatus();
}

InferResult InferForward(const InferContext& c) {
  KILN_RETURN_IF_ERROR(CheckTransform(c));
  const TensorType& data = c.inputs[0];
  const int64_t length = c.attrs.Int("fft_length");
  KILN_CONSTRAINT(3, data.rank() >= 1 && data.shape.back() >= 1 && data.shape.back() <= length,
                  data.ToString(), absl::StrCat("1 to ", length, " samples"));
  Shape shape(data.shape.begin(), data.shape.end() - 1);
  shape.insert(shape.end(), {length / 2 + 1, 2});
  return OutputTypes({{std::move(shape), data.dtype}});
}

InferResult InferInverse(const InferContext& c) {
  KILN_RETURN_IF_ERROR(CheckTransform(c));
  const TensorType& data = c.inputs[0];
  const int64_t length = c.attrs.Int("fft_length");
  const size_t rank = data.shape.size();
  KILN_CONSTRAINT(3, rank >= 2 && data.shape[rank - 2] == length / 2 + 1 && data.shape.back() == 2,
                  data.ToString(), absl::StrCat("(…, ", length / 2 + 1, ", 2)"));
  Shape shape(data.shape.begin(), data.shape.end() - 2);
  shape.push_back(length);
  return OutputTypes({{std::move(shape), data.dtype}});
}

absl::Status LowerForward(StageBuilder& b) {
  const Shape shape = b.input_shape(0);
  const int64_t length = b.attrs().Int("fft_length");
  FastFourier fourier(b, b.input_dtype(0), Shape(shape.begin(), shape.end() - 1), length);
  fourier.Forward([&, data = b.Input(0)](const Indices& i) {
    if (shape.back() == length) return data(i);
    return GuardedValue(data, shape, i, i.back() < Expr(shape.back()),
                        loop::Const(b.input_dtype(0), 0));
  });
  return absl::OkStatus();
}

absl::Status LowerInverse(StageBuilder& b) {
  const Shape shape = b.input_shape(0);
  FastFourier fourier(b, b.input_dtype(0), Shape(shape.begin(), shape.end() - 2),
                      b.attrs().Int("fft_length"));
  fourier.Inverse(b.Input(0));
  return absl::OkStatus();
}

TensorType I16(Shape shape) { return {std::move(shape), DType::Int(16)}; }

Attrs Length(int64_t length) { return {{"fft_length", length}}; }

const char* const kRounding =
    " Integers are rounded, and scaled by powers of two, as by the KISS FFT library, to the bit; "
    "floats add in its order. Not of Relay.";

const AttrSchema kLength = {"fft_length", AttrType::kInt, {}, true, "samples, a power of two"};

OpDef Transform(OpSchema schema, const char* shape, InferResult (*infer)(const InferContext&),
                absl::Status (*lower)(StageBuilder&), std::vector<OpExample> examples) {
  return {std::move(schema),
          {"data is int16, int32 or float32",
           absl::StrCat("fft_length is a power of two from ", kLeast, " to ", kLargest), shape},
          {.fusion = Fusion::kOpaque, .layout = LayoutRule::kFixed},
          infer,
          lower,
          std::move(examples)};
}

// Expected values are those of KISS FFT.
const OpDef kTransforms[] = {
    Transform(
        {.name = "signal.rfft",
         .doc = absl::StrCat("The Fourier transform of real samples along the last axis, with "
                             "zeros behind the data: integers are divided by fft_length.",
                             kRounding),
         .inputs = {{"data", "(…, samples)"}},
         .attrs = {kLength}},
        "data has 1 to fft_length samples along the last axis", InferForward, LowerForward,
        {Case({Values(I16({4}), {15496, 24200, -32490, -19341})}, Length(4),
              {Values(I16({3, 2}), {-3034, 0, 11995, -10884, -5462, 0})}),
         Case({Values(I16({1, 8}), {15496, 24200, -32490, -19341, 3312, 24216, -14762, -29086})},
              Length(8),
              {Values(I16({1, 5, 2}), {-3557, 0, 660, 1356, 8256, -12103, 2385, -3076, -3553, 0})}),
         Case({Values(I32({8}), {70837908, -1549426461, 1075679462, 1814098701, -1757972216,
                                 -700364601, 1009643386, -82265967})},
              Length(8),
              {Values(I32({5, 2}), {-14971224, 0, -14062449, -100823874, -471557143, 497702973,
                                    471264979, -84314855, 114518358, 0})}),
         Case({Values(F32({4}), {1.0546875, -23.0888672, 16.0283203, 27.03125})}, Length(4),
              {Values(F32({3, 2}), {21.0253906, 0, -14.9736328, 50.1201172, 13.140625, 0})}, 1e-6),
         {.inputs = {I16({2, 11})}, .attrs = Length(16), .input_min = -8000, .input_max = 8000},
         {.inputs = {I16({64})}, .attrs = Length(64), .input_min = -8000, .input_max = 8000},
         {.inputs = {F32({2, 30})}, .attrs = Length(32)},
         {.inputs = {I16({0, 3})}, .attrs = Length(4)}}),
    Transform(
        {.name = "signal.irfft",
         .doc = absl::StrCat("The real samples whose Fourier transform is data, whose last axis is "
                             "real and imaginary part: floats are fft_length times as large, "
                             "integers are divided by what keeps them in range.",
                             kRounding),
         .inputs = {{"data", "(…, fft_length / 2 + 1, 2)"}},
         .attrs = {kLength}},
        "data is (…, fft_length / 2 + 1, 2)", InferInverse, LowerInverse,
        {Case({Values(I16({3, 2}), {-3034, 0, 11995, -10884, -5462, 0})}, Length(4),
              {Values(I16({4}), {3873, 6049, -8121, -4835})}),
         Case({Values(I16({1, 5, 2}), {-3557, 0, 660, 1356, 8256, -12103, 2385, -3076, -3553, 0})},
              Length(8),
              {Values(I16({1, 8}), {1936, 3025, -4061, -2416, 414, 3025, -1845, -3634})}),
         {.inputs = {I16({2, 17, 2})}, .attrs = Length(32), .input_min = -8000, .input_max = 8000},
         {.inputs = {I32({9, 2})}, .attrs = Length(16), .input_min = -80000, .input_max = 80000},
         {.inputs = {F32({2, 9, 2})}, .attrs = Length(16)}}),
};
KILN_REGISTER_OPS(kTransforms);

}  // namespace
}  // namespace kiln
