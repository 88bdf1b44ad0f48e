// SPDX-License-Identifier: Apache-2.0
// Representation of values of each dtype in a Scalar, for the sources that implement scalar.h.
#ifndef KILN_COMPILER_LOOP_SCALAR_TRAITS_H_
#define KILN_COMPILER_LOOP_SCALAR_TRAITS_H_

#include <cstdint>
#include <type_traits>

#include "compiler/loop/scalar.h"

namespace kiln::loop {

// The C++ types for float16 and bfloat16.
struct Half {
  uint16_t bits;
};
struct BFloat {
  uint16_t bits;
};

template <typename T>
inline constexpr bool kIsFloat = std::is_same_v<T, float> || std::is_same_v<T, double>;
template <typename T>
inline constexpr bool kIsBool = std::is_same_v<T, bool>;
// Types of floats in memory that have no arithmetic.
template <typename T>
inline constexpr bool kIsStoredFloat = std::is_same_v<T, Half> || std::is_same_v<T, BFloat>;
template <typename T>
inline constexpr bool kIsInteger = !kIsFloat<T> && !kIsBool<T> && !kIsStoredFloat<T>;

template <typename T>
T GetScalar(const Scalar& s) {
  if constexpr (std::is_same_v<T, float>) {
    return s.f;
  } else if constexpr (std::is_same_v<T, double>) {
    return s.d;
  } else if constexpr (kIsStoredFloat<T>) {
    return T{static_cast<uint16_t>(s.i)};
  } else {
    return static_cast<T>(s.i);
  }
}

template <typename T>
void SetScalar(T value, Scalar& s) {
  if constexpr (std::is_same_v<T, float>) {
    s.f = value;
  } else if constexpr (std::is_same_v<T, double>) {
    s.d = value;
  } else if constexpr (kIsStoredFloat<T>) {
    s.i = value.bits;
  } else {
    s.i = static_cast<int64_t>(value);
  }
}

// Returns f(T{}) with the C++ type of `dtype`; f is a generic lambda.
template <typename F>
auto DispatchDType(DType dtype, const F& f) {
  switch (dtype.kind) {
    case DTypeKind::kBool:
      return f(bool{});
    case DTypeKind::kInt:
      if (dtype.bits == 8) return f(int8_t{});
      if (dtype.bits == 16) return f(int16_t{});
      if (dtype.bits == 32) return f(int32_t{});
      return f(int64_t{});
    case DTypeKind::kUInt:
      if (dtype.bits == 8) return f(uint8_t{});
      if (dtype.bits == 16) return f(uint16_t{});
      if (dtype.bits == 32) return f(uint32_t{});
      return f(uint64_t{});
    case DTypeKind::kBFloat:
      return f(BFloat{});
    case DTypeKind::kFloat:
      if (dtype.bits == 16) return f(Half{});
      if (dtype.bits == 32) return f(float{});
      break;
  }
  return f(double{});
}

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_SCALAR_TRAITS_H_
