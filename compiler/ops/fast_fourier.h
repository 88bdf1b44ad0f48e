// SPDX-License-Identifier: Apache-2.0
// FastFourier: the stages of the Fourier transform of real numbers, in log2(size) steps. Integers
// are rounded as by the KISS FFT library, to the bit: each step of radix p divides them by p first,
// with 15 or 31 bits behind the point.
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
  // Of `size` real numbers, a power of two of at least 4, for every index of `rows`.
  FastFourier(StageBuilder& b, DType dtype, Shape rows, int64_t size);

  // Defines output 0, rows + (size / 2 + 1, 2), real and imaginary part of each bin, of `samples`,
  // which takes an index of rows and that of one of `size` samples.
  void Forward(const Access& samples);
  // Defines output 0, rows + (size), of `bins`, which takes an index of what Forward gives. The
  // imaginary parts of the first and the last are taken for 0.
  void Inverse(const Access& bins);

 private:
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
  // A table of cos and sin of `angle(i)`, which takes a component and an index.
  Access Circle(const std::string& name, int64_t entries,
                const std::function<double(int64_t)>& angle);

  // The transform of count_ complex numbers. x and the result take an index of rows, a component, a
  // position: real and imaginary parts lie apart.
  Access Transform(const Access& x, bool inverse);
  Access Combined(const Step& step, const std::vector<int64_t>& outer, const Access& x,
                  bool inverse);
  // What turns the transform of pairs of samples into that of samples, and back: component c of bin
  // `bin`, of bins 1 to count_ - 1.
  Expr Untangled(const Access& x, const Access& twiddles, const Indices& bin) const;
  Access Halves(bool inverse);

  StageBuilder& b_;
  const DType dtype_, value_, wide_;
  const Shape rows_;
  const int64_t count_;  // complex numbers, each of two samples
};

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_FAST_FOURIER_H_
