// SPDX-License-Identifier: Apache-2.0
// FastFourier: the stages of a Fourier transform of real numbers, with steps of radix 4 and 2.
// Integers are rounded bit for bit as in the KISS FFT library: each step of radix p first divides
// its numbers, which have 15 or 31 fraction bits, by p.
//
//   FastFourier fourier(b, DType::Int(16), {}, 512);
//   fourier.Forward(b.Input(0));
#ifndef KILN_COMPILER_OPS_FAST_FOURIER_H_
#define KILN_COMPILER_OPS_FAST_FOURIER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "compiler/ops/stage_builder.h"

namespace kiln {

class FastFourier {
 public:
  // Transforms `size` real numbers for every index of `rows`. `size` is a power of two, at least 4.
  FastFourier(StageBuilder& b, DType dtype, Shape rows, int64_t size);

  // Defines output 0 of shape rows + (size / 2 + 1, 2): real and imaginary part of each bin.
  // `samples` takes an index of rows followed by the index of one of `size` samples.
  void Forward(const Access& samples);
  // Defines output 0 of shape rows + (size). `bins` takes an index into a result of Forward. The
  // imaginary parts of the first and the last bin are taken as 0.
  void Inverse(const Access& bins);

 private:
  // One step: each group of `radix` transforms of `length` becomes one transform of radix * length.
  struct Step {
    int64_t radix, length;
  };

  // The arithmetic of one dtype. Values have the dtype if it is a float, else they are int32
  // within the range of the dtype.
  Expr Value(const Expr& x) const;
  Expr Wrapped(const Expr& x) const;
  Expr DividedBy(const Expr& x, int64_t divisor) const;
  Expr Product(const Expr& a, const Expr& b) const;
  Expr Rounded(const Expr& product) const;
  // Component c of the product of x and w. Complex numbers are functions of the component.
  using Complex = std::function<Expr(const Expr& c)>;
  Expr ComplexProduct(const Complex& x, const Complex& w, const Expr& c) const;
  // A table of cos(angle(i)) and sin(angle(i)). It is read with a component
  // (0: cos) and an index i.
  Access Circle(const std::string& name, int64_t entries,
                const std::function<double(int64_t)>& angle);

  // The transform of count_ complex numbers. x and the result take an index of rows, a component
  // and a position: real and imaginary parts are stored apart.
  Access Transform(const Access& x, bool inverse);
  Access Combined(const Step& step, const std::vector<int64_t>& outer, const Access& x,
                  bool inverse);
  // Element `bin` (an index of rows, a number from 1 to count_ - 1, a component) of
  // the transform of samples, made from the transform x of pairs of samples. With the
  // other twiddles, the reverse.
  Expr Untangled(const Access& x, const Access& twiddles, const Indices& bin) const;
  Access Halves(bool inverse);

  StageBuilder& b_;
  const DType dtype_, value_, wide_;
  const Shape rows_;
  const int64_t count_;  // complex numbers, each of two samples
};

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_FAST_FOURIER_H_
