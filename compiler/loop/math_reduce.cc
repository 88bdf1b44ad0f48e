// SPDX-License-Identifier: Apache-2.0
// Reduction of an angle modulo pi/2 in integer arithmetic, after M. Payne and R. Hanek, "Radian
// reduction for trigonometric functions" (1983). |x| is an integer m times a power of two. Only the
// bits of 2/pi from a position that depends on the exponent matter, and their product with m wraps
// modulo 4. The result is exact for every finite x, small or large.
#include <array>
#include <vector>

#include "compiler/loop/math.h"
#include "compiler/loop/math_kernel.h"

namespace kiln::loop {
namespace {

// 64 zeros and the first 1216 bits of 2/pi.
constexpr std::array<uint64_t, 20> kTwoOverPi = {
    0x0000000000000000, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041,
    0xfe5163abdebbc561, 0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e,
    0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b,
    0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab};

// pi/2 divided by 2^62, which is one quadrant in the fixed-point numbers below.
constexpr double kQuadrantUnit = kHalfPi * 0x1p-62;

Expr And(const Expr& a, Expr b) { return MakeBinary(BinaryOp::kAnd, a, std::move(b)); }
Expr Or(const Expr& a, Expr b) { return MakeBinary(BinaryOp::kOr, a, std::move(b)); }

Type UInt64Like(const Expr& x) { return Type::Of(DType::UInt(64), x.type().lanes); }

// The bits of |x| as uint64.
Expr MagnitudeBits(const Expr& x) {
  const Expr bits = MakeBitcast(DType::UInt(x.type().dtype.bits), x);
  return MakeCast(UInt64Like(x),
                  And(bits, bits.type().dtype.bits == 32 ? Expr(int64_t{0x7fffffff})
                                                         : Expr(int64_t{0x7fffffffffffffff})));
}

// 64 bits from bit `shift` (0 … 63) on of the 128 bits in two words.
Expr Window(const Expr& high, const Expr& low, const Expr& shift) {
  return Or(Shl(high, shift), Shr(Shr(low, 1), 63 - shift));
}

// `count` words of kTwoOverPi, starting at index `word`, which is below 2^index_bits. There is one
// stage of selects per bit of `word`, and each leaves fewer words.
std::vector<Expr> SelectWords(const Expr& word, int index_bits, size_t count) {
  std::vector<Expr> words;
  for (uint64_t bits : kTwoOverPi) {
    words.push_back(IntConst(word.type(), static_cast<int64_t>(bits)));
  }
  for (int bit = index_bits - 1; bit >= 0; --bit) {
    const size_t step = size_t{1} << bit;
    const Expr skip = And(word, static_cast<int64_t>(step)) != 0;
    std::vector<Expr> kept;
    for (size_t i = 0; i + 1 < count + step; ++i) {
      if (i >= words.size()) break;
      kept.push_back(i + step < words.size() ? MakeSelect(skip, words[i + step], words[i])
                                             : words[i]);
    }
    words = std::move(kept);
  }
  return words;
}

// The upper 64 bits of the product of two uint64.
Expr MultiplyHigh(const Expr& a, const Expr& b) {
  const int64_t mask = 0xffffffff;
  const Expr a_low = And(a, mask), a_high = Shr(a, 32);
  const Expr b_low = And(b, mask), b_high = Shr(b, 32);
  const Expr cross1 = a_high * b_low, cross2 = a_low * b_high;
  const Expr middle = Shr(a_low * b_low, 32) + And(cross1, mask) + And(cross2, mask);
  return a_high * b_high + Shr(cross1, 32) + Shr(cross2, 32) + Shr(middle, 32);
}

// The multiple of a quadrant nearest to an angle, modulo 4. The angle is in units of 2^-62
// quadrants.
Expr NearestQuadrant(const Expr& angle) { return Shr(angle + (int64_t{1} << 61), 62); }

Expr AsInt64(const Expr& e) { return MakeCast(DType::Int(64), e); }

PiReduction ReduceFloat32(const Expr& x) {
  const Expr bits = MagnitudeBits(x);
  const Expr m = Or(And(bits, 0x7fffff), 0x800000);
  // |x| = m * 2^(exponent - 150). 62 bits of its product with 2/pi after the point are needed. They
  // begin at bit exponent - 88. For |x| < 1/2 that would be negative, but then the result is not
  // used.
  const Expr start = Shr(bits, 23) - 88;
  const std::vector<Expr> words = SelectWords(Shr(And(start, 0xff), 6), 2, 3);
  const Expr shift = And(start, 63);
  const Expr window = Window(words[0], words[1], shift);
  const Expr next = Shr(Window(words[1], words[2], shift), 32);
  const Expr angle = m * window + Shr(m * next, 32);
  const Expr quadrant = NearestQuadrant(angle);
  const Expr rest = AsInt64(angle - Shl(quadrant, 62));
  return {quadrant, MakeCast(x.type(), rest) * Like(x, kQuadrantUnit)};
}

PiReduction ReduceFloat64(const Expr& x) {
  const Expr bits = MagnitudeBits(x);
  const Expr m = Or(And(bits, 0xfffffffffffff), int64_t{1} << 52);
  // |x| = m * 2^(exponent - 1075). 126 bits after the point are needed, because x may be within
  // 2^-61 of a multiple of pi/2.
  const Expr start = Shr(bits, 52) - (949 + 64);
  const std::vector<Expr> words = SelectWords(Shr(And(start, 0x7ff), 6), 5, 4);
  const Expr shift = And(start, 63);
  const Expr window0 = Window(words[0], words[1], shift);
  const Expr window1 = Window(words[1], words[2], shift);
  const Expr window2 = Window(words[2], words[3], shift);
  const Expr product = m * window1;
  const Expr low = product + MultiplyHigh(m, window2);
  const Expr carry = MakeSelect(low < product, IntConst(low.type(), 1), IntConst(low.type(), 0));
  const Expr high = m * window0 + MultiplyHigh(m, window1) + carry;
  const Expr quadrant = NearestQuadrant(high);
  // The magnitude of the remainder, so that no digits cancel when the two words become one float.
  const Expr rest = AsInt64(high - Shl(quadrant, 62));
  const Expr negative = rest < 0;
  const Expr low_magnitude = MakeSelect(negative, -low, low);
  const Expr borrow = MakeSelect(low != 0, IntConst(rest.type(), 1), IntConst(rest.type(), 0));
  const Expr high_magnitude = MakeSelect(negative, -rest - borrow, rest);
  const Expr sum =
      MakeCast(x.type(), high_magnitude) + MakeCast(x.type(), low_magnitude) * Like(x, 0x1p-64);
  const Expr r = sum * Like(x, kQuadrantUnit);
  return {quadrant, MakeSelect(negative, -r, r)};
}

}  // namespace

PiReduction ReduceByHalfPi(const Expr& x) {
  const PiReduction reduced = IsFloat64(x) ? ReduceFloat64(x) : ReduceFloat32(x);
  const Expr magnitude = Abs(x);
  const Expr small = magnitude < Like(x, kHalfPi / 2);
  return {MakeSelect(small, IntConst(reduced.quadrant.type(), 0), reduced.quadrant),
          MakeSelect(small, magnitude, reduced.r)};
}

}  // namespace kiln::loop
