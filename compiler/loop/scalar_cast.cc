// SPDX-License-Identifier: Apache-2.0
// Conversions of scalar.h.
#include <bit>
#include <limits>

#include "compiler/base/tensor.h"
#include "compiler/loop/scalar.h"
#include "compiler/loop/scalar_traits.h"

namespace kiln::loop {
namespace {

// Truncates towards zero and saturates. NaN becomes 0. The value is a double, which holds every
// float32 and every bound that a float32 can reach.
template <typename To>
To SaturatingCast(double value) {
  constexpr double kBelow = static_cast<double>(std::numeric_limits<To>::min());
  // 2^width: max + 1 is exact in double, max itself may not be.
  constexpr double kAbove =
      2.0 * static_cast<double>(uint64_t{1} << (std::numeric_limits<To>::digits - 1));
  if (value != value) return To{0};
  if (value >= kAbove) return std::numeric_limits<To>::max();
  if (value <= kBelow) return std::numeric_limits<To>::min();
  return static_cast<To>(value);
}

template <typename From, typename To>
constexpr bool HasCast() {
  if constexpr (std::is_same_v<From, To>) return true;
  // These types are for storage only: all other conversions go through float32.
  if constexpr (kIsStoredFloat<From>) return std::is_same_v<To, float>;
  if constexpr (kIsStoredFloat<To>) return std::is_same_v<From, float>;
  return true;
}

template <typename From, typename To>
To ApplyCast(From a) {
  if constexpr (std::is_same_v<From, To>) {
    return a;
  } else if constexpr (std::is_same_v<From, Half>) {
    return FloatFromHalf(a.bits);
  } else if constexpr (std::is_same_v<To, Half>) {
    return Half{HalfFromFloat(a)};
  } else if constexpr (std::is_same_v<From, BFloat>) {
    return FloatFromBFloat(a.bits);
  } else if constexpr (std::is_same_v<To, BFloat>) {
    return BFloat{BFloatFromFloat(a)};
  } else if constexpr (kIsBool<To>) {
    return a != From{0};
  } else if constexpr (kIsFloat<From> && kIsInteger<To>) {
    return SaturatingCast<To>(static_cast<double>(a));
  } else {
    return static_cast<To>(a);  // wraps, extends or rounds to nearest even
  }
}

// Returns find<From, To>() for the C++ types of two dtypes.
template <typename F>
UnaryKernel Find(DType from, DType to, const F& find) {
  return DispatchDType(from, [&](auto from_zero) -> UnaryKernel {
    return DispatchDType(to, [&](auto to_zero) -> UnaryKernel {
      return find.template operator()<decltype(from_zero), decltype(to_zero)>();
    });
  });
}

}  // namespace

UnaryKernel FindCastKernel(DType from, DType to) {
  return Find(from, to, []<typename From, typename To>() -> UnaryKernel {
    if constexpr (!HasCast<From, To>()) {
      return nullptr;
    } else {
      return [](int lanes, const Scalar* a, Scalar* out) {
        for (int l = 0; l < lanes; ++l) {
          SetScalar<To>(ApplyCast<From, To>(GetScalar<From>(a[l])), out[l]);
        }
      };
    }
  });
}

UnaryKernel FindBitcastKernel(DType from, DType to) {
  return Find(from, to, []<typename From, typename To>() -> UnaryKernel {
    if constexpr (sizeof(From) != sizeof(To) || kIsBool<From> || kIsBool<To>) {
      return nullptr;
    } else {
      return [](int lanes, const Scalar* a, Scalar* out) {
        for (int l = 0; l < lanes; ++l) {
          SetScalar<To>(std::bit_cast<To>(GetScalar<From>(a[l])), out[l]);
        }
      };
    }
  });
}

}  // namespace kiln::loop
